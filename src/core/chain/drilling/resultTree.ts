import { equalBytes } from '../../bytes/bytes.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { u32be } from '../bigEndian.ts'

/** A leaf of the tree that all right replicas share. */
export const resultLeaf = (index: number, chunk: Uint8Array): Uint8Array => taggedHash('pod/chunk', u32be(index), chunk)

/** The same leaf in a replica's own tree: it shows that this account held the bytes. */
export const traceLeaf = (account: Uint8Array, index: number, chunk: Uint8Array): Uint8Array =>
  taggedHash('pod/trace', account, u32be(index), chunk)

export const treeNode = (left: Uint8Array, right: Uint8Array): Uint8Array => taggedHash('pod/node', left, right)

/** The root over a number of hashes that is a power of two. */
export function treeRoot(level: readonly Uint8Array[]): Uint8Array {
  let at = level
  while (at.length > 1) at = Array.from({ length: at.length >> 1 }, (_, i) => treeNode(at[2 * i]!, at[2 * i + 1]!))
  return at[0]!
}

/** Siblings from the leaf up. */
export function treePath(leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  const path: Uint8Array[] = []
  for (let [level, at] = [leaves, index]; level.length > 1; at >>= 1) {
    path.push(level[at ^ 1]!)
    level = Array.from({ length: level.length >> 1 }, (_, i) => treeNode(level[2 * i]!, level[2 * i + 1]!))
  }
  return path
}

/** Whether a leaf stands at this place of a tree of this depth. */
export function isInTree(
  root: Uint8Array,
  depth: number,
  index: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
) {
  if (path.length !== depth || index >= 2 ** depth) return false
  const reached = path.reduce(
    (at, sibling, level) => (((index >>> level) & 1) === 0 ? treeNode(at, sibling) : treeNode(sibling, at)),
    leaf,
  )
  return equalBytes(reached, root)
}
