import { equalBytes } from '../../bytes/bytes.ts'
import { toHex } from '../../bytes/hex.ts'
import { isKnownTask, PRODUCT_KIND, productLength, type TaskTerms } from './productTask.ts'

/** A chunk that somebody opened, and the task that it is of. */
export interface OpenedChunk {
  readonly projectKind: number
  readonly seed: Uint8Array
  readonly work: bigint
  readonly depth: number
  readonly chunk: { readonly index: number; readonly bytes: Uint8Array }
  readonly inputs: readonly unknown[]
}

/** The right chunk at a place of the product that a seed stands for. */
export type ChunkAt = (seed: Uint8Array, k: number, index: number) => Uint8Array

/** Right chunks that are remembered: the replicas of a task are asked for the same ones, and a block after the pool. */
const MOST_KEPT = 4_096

/** What the chain asks about tasks of kind 0. A chunk is computed once, however often somebody shows it. */
export function productChecks(chunkAt: ChunkAt) {
  const kept = new Map<string, Uint8Array>()
  const right = (seed: Uint8Array, k: number, index: number): Uint8Array => {
    const name = `${toHex(seed)}/${k}/${index}`
    const found = kept.get(name) ?? chunkAt(seed, k, index)
    kept.delete(name)
    kept.set(name, found)
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
    return found
  }
  return {
    terms: (terms: TaskTerms): boolean => isKnownTask(terms),
    patch: ({ projectKind, seed, work, depth, chunk, inputs }: OpenedChunk): boolean => {
      const k = productLength(work, depth)
      if (projectKind !== PRODUCT_KIND || k === null || inputs.length > 0 || chunk.index >= 2 ** depth) return false
      return equalBytes(right(seed, k, chunk.index), chunk.bytes)
    },
  }
}
