import type { PathsJob } from './jobs.ts'
import { FINGERPRINT_BYTES, pathsScratchBytes } from './layout.ts'
import { type Thread, takeAll } from './thread.ts'

/** Rebuilds the trees that hold asked leaves, one tree to a piece, and copies the siblings out. */
export function computePaths(thread: Thread, { leaves, groups, scratch, out }: PathsJob): void {
  const { kernels, bytes } = thread
  const fingerprints = scratch + thread.index * pathsScratchBytes(leaves)
  const tree = fingerprints + leaves * FINGERPRINT_BYTES
  const to = new Uint8Array(out)
  takeAll(thread, groups.length, (piece) => {
    const group = groups[piece]!
    bytes.set(new Uint8Array(group.store, group.offset, leaves * FINGERPRINT_BYTES), fingerprints)
    kernels.subtree(fingerprints, group.base, leaves, 0, leaves, tree)
    for (const leaf of group.leaves) to.set(siblings(bytes, tree, leaves, leaf.index), leaf.to)
  })
}

/** Level l of a tree begins at entry 2 * leaves - 2 * (leaves >> l), leaves first. */
function siblings(bytes: Uint8Array, tree: number, leaves: number, index: number): Uint8Array {
  const depth = Math.log2(leaves)
  const path = new Uint8Array(32 * depth)
  for (let level = 0; level < depth; level++) {
    const at = tree + 32 * (2 * leaves - 2 * (leaves >> level) + ((index >> level) ^ 1))
    path.set(bytes.subarray(at, at + 32), 32 * level)
  }
  return path
}
