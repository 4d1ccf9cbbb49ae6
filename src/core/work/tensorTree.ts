import { concatBytes } from '../bytes/bytes.ts'
import { sha256 } from '../bytes/sha256.ts'
import { HASH_BYTES, nodeHash } from '../proof/merkle.ts'
import { leafSpan, leavesOf, type TensorShape } from './tensor.ts'

const ZERO = new Uint8Array(HASH_BYTES)

/** W4.1. What a leaf says, and nothing else: fingerprints bind nothing that is opened as an input. */
export const tensorLeaf = (bytes: Uint8Array): Uint8Array => sha256(Uint8Array.of(0), bytes)

export const depthOf = (leaves: number): number => Math.ceil(Math.log2(leaves))

/** All levels of the tree over some hashes, these first, padded with zero words to a power of two. */
export function levelsOver(hashes: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
  const padded = Array.from({ length: 2 ** depthOf(hashes.length) }, (_, i) => hashes[i] ?? ZERO)
  const levels: (readonly Uint8Array[])[] = [padded]
  for (let level: readonly Uint8Array[] = padded; level.length > 1; levels.push(level)) {
    const below = level
    level = Array.from({ length: below.length / 2 }, (_, i) => nodeHash(below[2 * i]!, below[2 * i + 1]!))
  }
  return levels
}

export const rootOver = (hashes: readonly Uint8Array[]): Uint8Array => levelsOver(hashes).at(-1)![0]!

/** The tree of a tensor, from its bytes, or what of it lies under a node at some height. */
export const tensorLevels = (
  shape: TensorShape,
  bytes: Uint8Array,
  height = depthOf(leavesOf(shape)),
  at = 0,
): readonly (readonly Uint8Array[])[] =>
  levelsOver(
    Array.from({ length: 2 ** height }, (_, i) => {
      const leaf = at * 2 ** height + i
      if (leaf >= leavesOf(shape)) return ZERO
      const { start, length } = leafSpan(shape, leaf)
      return tensorLeaf(bytes.subarray(start, start + length))
    }),
  )

/** Where a level begins, in hashes, of a tree that lies level by level, leaves first. */
export const levelStart = (depth: number, level: number): number => 2 ** (depth + 1) - 2 ** (depth + 1 - level)

export const tensorRoot = (shape: TensorShape, bytes: Uint8Array): Uint8Array => tensorLevels(shape, bytes).at(-1)![0]!

/** Which nodes complete some leaves to the root: level by level, ascending. Leaves come ascending and without repeats. */
export function* missingNodes(
  depth: number,
  leaves: readonly number[],
): Generator<{ readonly level: number; readonly at: number }> {
  let known = leaves
  for (let level = 0; level < depth; level++) {
    const here = new Set(known)
    for (const at of known) if (!here.has(at ^ 1)) yield { level, at: at ^ 1 }
    known = [...new Set(known.map((at) => Math.floor(at / 2)))]
  }
}

/** The hashes that lead from some leaves of a tree to its root. */
export function proveLeaves(levels: readonly (readonly Uint8Array[])[], leaves: readonly number[]): Uint8Array {
  return concatBytes(...Array.from(missingNodes(levels.length - 1, leaves), ({ level, at }) => levels[level]![at]!))
}

/** How many bytes `proveLeaves` returns: known to whoever asks, so that nothing else is read. */
export function proofBytes(depth: number, leaves: readonly number[]): number {
  const known = Float64Array.from(leaves)
  let missing = 0
  for (let level = 0, count = known.length; level < depth && count > 0; level++) {
    let above = 0
    for (let i = 0; i < count; i++) {
      const at = known[i]!
      if (at % 2 === 0 && i + 1 < count && known[i + 1] === at + 1) i++
      else missing++
      known[above++] = Math.floor(at / 2)
    }
    count = above
  }
  return HASH_BYTES * missing
}

/** Where leaves and the hashes beside them lead. */
export function rootFromLeaves(depth: number, leaves: ReadonlyMap<number, Uint8Array>, proof: Uint8Array): Uint8Array {
  const ascending = [...leaves.keys()].sort((a, b) => a - b)
  const beside = [...missingNodes(depth, ascending)]
  if (proof.length !== HASH_BYTES * beside.length) throw new RangeError('a proof of another size')
  let level = new Map(ascending.map((at) => [at, leaves.get(at)!]))
  for (let height = 0, next = 0; height < depth; height++) {
    for (; next < beside.length && beside[next]!.level === height; next++)
      level.set(beside[next]!.at, proof.subarray(next * HASH_BYTES, (next + 1) * HASH_BYTES))
    const above = new Map<number, Uint8Array>()
    for (const at of level.keys()) if (at % 2 === 0) above.set(at / 2, nodeHash(level.get(at)!, level.get(at + 1)!))
    level = above
  }
  return level.get(0)!
}

/** The same from the bytes of leaves. */
export const rootOfLeaves = (
  shape: TensorShape,
  leaves: ReadonlyMap<number, Uint8Array>,
  proof: Uint8Array,
): Uint8Array => {
  const hashes = new Map([...leaves].map(([leaf, bytes]) => [leaf, tensorLeaf(bytes)]))
  return rootFromLeaves(depthOf(leavesOf(shape)), hashes, proof)
}
