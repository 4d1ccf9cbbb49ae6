import { type BranchNode, hasher, type Node, setHasher } from '@chainsafe/persistent-merkle-tree'
import { hasher as webAssembly } from '@chainsafe/persistent-merkle-tree/hasher/as-sha256'

// The library starts with plain JavaScript. WebAssembly takes a third of its time and runs in pages too; a driver may bring
// what is faster still. The roots are the same.
if (hasher.name === 'noble') setHasher(webAssembly)

/** Pairs of nodes that are hashed by one call: a call costs as much as six hashes. */
const PAIRS = 1_024
const pairs = new Uint8Array(64 * PAIRS)
const hashes = new Uint8Array(32 * PAIRS)
// The library keeps a hash as eight numbers, the least significant byte first.
const pairWords = new Int32Array(pairs.buffer)
const hashWords = new Int32Array(hashes.buffer)

/** What of a view leads to its root. */
interface Hashable {
  commit(): void
  readonly node: Node
}

/** The root of a view with all its changes: the same as its `hashTreeRoot`, level by level instead of node by node. */
export function rootOf(view: Hashable): Uint8Array {
  view.commit()
  const levels: BranchNode[][] = []
  if (isOpen(view.node)) collect(view.node, 0, levels)
  for (const level of levels.reverse())
    for (let from = 0; from < level.length; from += PAIRS) hashAll(level.slice(from, from + PAIRS))
  return view.node.root
}

const ZEROS: Uint8Array[] = [new Uint8Array(32)]

/** The root of a tree of nothing but zeros. */
function zerosRoot(depth: number): Uint8Array {
  for (let d = ZEROS.length; d <= depth; d++) ZEROS.push(hasher.digest64(ZEROS[d - 1]!, ZEROS[d - 1]!))
  return ZEROS[depth]!
}

/** The root of a tree of so many levels whose first leaves are these chunks of 32 bytes, up to 2^depth of them. */
export function rootOfChunks(chunks: Uint8Array, depth: number): Uint8Array {
  let level = chunks
  if (level.length === 0) return zerosRoot(depth)
  for (let d = 0; d < depth; d++) {
    const count = level.length / 32
    const even = new Uint8Array(32 * (count + (count % 2)))
    even.set(level)
    if (count % 2 === 1) even.set(zerosRoot(d), level.length)
    level = new Uint8Array(even.length / 2)
    hasher.hashInto(even, level)
  }
  return level
}

/** The same of a list, whose length is hashed with it. */
export function rootOfList(chunks: Uint8Array, depth: number): Uint8Array {
  const length = new Uint8Array(32)
  new DataView(length.buffer).setUint32(0, chunks.length / 32, true)
  return hasher.digest64(rootOfChunks(chunks, depth), length)
}

/** Whether a node has not been hashed yet. A leaf always is: it is its own hash. */
const isOpen = (node: Node): node is BranchNode => node.h0 === null

function collect(node: BranchNode, depth: number, levels: BranchNode[][]): void {
  const level = levels[depth]
  if (level === undefined) levels.push([node])
  else level.push(node)
  if (isOpen(node.left)) collect(node.left, depth + 1, levels)
  if (isOpen(node.right)) collect(node.right, depth + 1, levels)
}

function hashAll(nodes: readonly BranchNode[]): void {
  for (let i = 0; i < nodes.length; i++) {
    write(nodes[i]!.left, 16 * i)
    write(nodes[i]!.right, 16 * i + 8)
  }
  hasher.hashInto(pairs.subarray(0, 64 * nodes.length), hashes.subarray(0, 32 * nodes.length))
  for (let i = 0; i < nodes.length; i++) read(nodes[i]!, 8 * i)
}

// Written out: a loop over names of fields costs more than the hash.
function write(node: Node, at: number): void {
  pairWords[at] = node.h0
  pairWords[at + 1] = node.h1
  pairWords[at + 2] = node.h2
  pairWords[at + 3] = node.h3
  pairWords[at + 4] = node.h4
  pairWords[at + 5] = node.h5
  pairWords[at + 6] = node.h6
  pairWords[at + 7] = node.h7
}

function read(node: Node, at: number): void {
  node.h0 = hashWords[at]!
  node.h1 = hashWords[at + 1]!
  node.h2 = hashWords[at + 2]!
  node.h3 = hashWords[at + 3]!
  node.h4 = hashWords[at + 4]!
  node.h5 = hashWords[at + 5]!
  node.h6 = hashWords[at + 6]!
  node.h7 = hashWords[at + 7]!
}
