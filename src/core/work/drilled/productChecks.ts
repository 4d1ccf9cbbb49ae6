import { equalBytes } from '../../bytes/bytes.ts'
import { toHex } from '../../bytes/hex.ts'
import { ALL_LIVE, isKnownTask, PRODUCT_KIND, productLength, type TaskTerms } from './productTask.ts'

/** The task that an opened chunk is of. */
export interface OpenedTask {
  readonly projectKind: number
  readonly seed: Uint8Array
  readonly work: bigint
  readonly depth: number
}

/** A chunk that somebody opened. */
export interface OpenedChunk extends OpenedTask {
  readonly chunk: { readonly index: number; readonly bytes: Uint8Array }
  readonly inputs: readonly unknown[]
}

/** The right chunk at a place of the product that a seed stands for. */
export type ChunkAt = (seed: Uint8Array, k: number, index: number) => Uint8Array

/** Right chunks that are remembered: the replicas of a task are asked for the same ones, and a block after the pool. */
const MOST_KEPT = 4_096

/**
 * What the chain asks about tasks of kind 0. A chunk is computed once, however often somebody shows it: `prepare` does so
 * elsewhere, such as on another thread, before it is asked for.
 */
export function productChecks(
  chunkAt: ChunkAt,
  elsewhere: (...asked: Parameters<ChunkAt>) => Promise<Uint8Array> = async (...asked) => chunkAt(...asked),
) {
  const kept = new Map<string, Uint8Array>()
  const nameOf = (seed: Uint8Array, k: number, index: number) => `${toHex(seed)}/${k}/${index}`
  const keep = (name: string, chunk: Uint8Array): Uint8Array => {
    kept.delete(name)
    kept.set(name, chunk)
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
    return chunk
  }
  /** The length of a task's rows, where it has a chunk at this place. */
  const lengthOf = ({ projectKind, work, depth }: OpenedTask, index: number): number | null =>
    projectKind === PRODUCT_KIND && index < 2 ** depth ? productLength(work, depth) : null
  return {
    terms: (terms: TaskTerms): boolean => isKnownTask(terms),
    live: (projectKind: number, live: number): boolean => projectKind === PRODUCT_KIND && live === ALL_LIVE,
    patch: (opened: OpenedChunk): boolean => {
      const { seed, chunk, inputs } = opened
      const k = lengthOf(opened, chunk.index)
      if (k === null || inputs.length > 0) return false
      const name = nameOf(seed, k, chunk.index)
      return equalBytes(keep(name, kept.get(name) ?? chunkAt(seed, k, chunk.index)), chunk.bytes)
    },
    async prepare(task: OpenedTask, indices: readonly number[]): Promise<void> {
      for (const index of new Set(indices)) {
        const k = lengthOf(task, index)
        if (k === null || kept.has(nameOf(task.seed, k, index))) continue
        keep(nameOf(task.seed, k, index), await elsewhere(task.seed, k, index))
      }
    },
  }
}
