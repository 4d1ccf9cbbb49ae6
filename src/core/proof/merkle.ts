import { concatBytes, u64le } from '../bytes/bytes.ts'
import { sha256 } from '../bytes/sha256.ts'
import type { Fingerprint } from './fingerprint.ts'

export const HASH_BYTES = 32

/** §5. Leaves and nodes start with different bytes, so that neither can be passed off as the other (attack 9). */
export const leafHash = (tile: number, { f0, f1 }: Fingerprint): Uint8Array =>
  sha256(Uint8Array.of(0), u64le(tile), u64le(f0), u64le(f1))

export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(Uint8Array.of(1), left, right)

/** All levels, leaves first. The number of leaves is a power of two: the depth is the verifier's, never the prover's. */
export function buildTree(leaves: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
  const levels: (readonly Uint8Array[])[] = [leaves]
  for (let level = leaves; level.length > 1; ) {
    level = Array.from({ length: level.length / 2 }, (_, i) => nodeHash(level[2 * i]!, level[2 * i + 1]!))
    levels.push(level)
  }
  return levels
}

export const rootOf = (leaves: readonly Uint8Array[]): Uint8Array => buildTree(leaves).at(-1)![0]!

/** Siblings from leaf to root. */
export function pathOf(levels: readonly (readonly Uint8Array[])[], index: number): Uint8Array {
  return concatBytes(...levels.slice(0, -1).map((level, depth) => level[(index >> depth) ^ 1]!))
}

/** Where a leaf and its siblings lead. `path` has exactly as many siblings as the caller's tree is deep. */
export function rootFrom(leaf: Uint8Array, index: number, path: Uint8Array): Uint8Array {
  let at = leaf
  for (let depth = 0; depth * HASH_BYTES < path.length; depth++) {
    const sibling = path.subarray(depth * HASH_BYTES, (depth + 1) * HASH_BYTES)
    at = Math.floor(index / 2 ** depth) % 2 === 0 ? nodeHash(at, sibling) : nodeHash(sibling, at)
  }
  return at
}

/** §7. Roots of the kept rounds under one root, padded with zero hashes to the next power of two. */
export function padRoots(roots: readonly Uint8Array[]): readonly Uint8Array[] {
  const size = 2 ** Math.ceil(Math.log2(roots.length))
  return [...roots, ...Array.from({ length: size - roots.length }, () => new Uint8Array(HASH_BYTES))]
}
