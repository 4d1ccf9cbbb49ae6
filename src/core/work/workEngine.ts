import { alignUp } from '../engine/kernels.ts'
import type { TensorHasher } from './engineRun.ts'
import type { FieldKernels } from './fieldKernels.ts'
import type { Place } from './op.ts'
import type { StepKernels } from './stepKernels.ts'
import { LEAF_BYTES, leafSpan, leavesOf, leavesOfRow, rowBytes, type TensorShape } from './tensor.ts'
import type { WorkEngine } from './tensorMemory.ts'
import { depthOf, levelStart, missingNodes, proofBytes } from './tensorTree.ts'
import type { OwnedWorkKernels, WorkKernels } from './workKernels.ts'

export type ExactEngine = WorkEngine<WorkKernels>

/** An engine on kernels whose memory grows when asked. */
export const engineOnOwned = (owned: OwnedWorkKernels): ExactEngine => ({ ...memoryOf(owned), kernels: owned.kernels })

/** The same memory for sumchecks. */
export const fieldEngineOnOwned = (owned: OwnedWorkKernels): WorkEngine<FieldKernels> => ({
  ...memoryOf(owned),
  kernels: owned.field,
})

/** The same memory for transitions by sumcheck. */
export const stepEngineOnOwned = (owned: OwnedWorkKernels): WorkEngine<StepKernels> => ({
  ...memoryOf(owned),
  kernels: owned.step,
})

const memoryOf = ({ free, memory }: OwnedWorkKernels): Omit<ExactEngine, 'kernels'> => ({
  start: free,
  view: (at, bytes) => new Uint8Array(memory(0), at, bytes),
  reserve: (end) => void memory(end - free),
})

const HASH_BYTES = 32
/** What is hashed at a time stays in the cache. */
const STRETCH_BYTES = 2 ** 18

const levelsBytes = (depth: number): number => (2 ** (depth + 1) - 1) * HASH_BYTES

/** Bytes of a whole tree: leaves padded to a power of two, then level by level up to the root. */
export const treeBytes = (shape: TensorShape): number => levelsBytes(depthOf(leavesOf(shape)))

/** The levels above the hashes of some leaves, which lie at `at`: zeros in the place of padding. */
function treeOver({ kernels, view }: ExactEngine, depth: number, leaves: number, at: number): Uint8Array {
  view(at + leaves * HASH_BYTES, (2 ** depth - leaves) * HASH_BYTES).fill(0)
  for (let level = 0, from = at; level < depth; level++) {
    const count = 2 ** (depth - level - 1)
    kernels.nodes(from, from + 2 * count * HASH_BYTES, count)
    from += 2 * count * HASH_BYTES
  }
  return view(at, levelsBytes(depth))
}

/** The tree of a tensor that lies in the memory of the engine, written at `to`. */
export function treeInPlace(engine: ExactEngine, { at, shape }: Place, to: number): Uint8Array {
  engine.kernels.leaves(at, to, shape.rows, rowBytes(shape))
  return treeOver(engine, depthOf(leavesOf(shape)), leavesOf(shape), to)
}

/** The hashes that lead from some leaves of a whole tree to its root. */
export function proveIn(shape: TensorShape, tree: Uint8Array, leaves: readonly number[]): Uint8Array {
  const depth = depthOf(leavesOf(shape))
  const wanted = [...missingNodes(depth, leaves)]
  const out = new Uint8Array(wanted.length * HASH_BYTES)
  for (const [i, { level, at }] of wanted.entries()) {
    const from = (levelStart(depth, level) + at) * HASH_BYTES
    out.set(tree.subarray(from, from + HASH_BYTES), i * HASH_BYTES)
  }
  return out
}

/** Hashes of some leaves, those of one length that follow each other at once. */
function leavesAt(engine: ExactEngine, leaves: readonly Uint8Array[], at: number, to: number): void {
  for (let first = 0, from = at; first < leaves.length; ) {
    const { length } = leaves[first]!
    let count = 0
    for (; leaves[first + count]?.length === length; count++)
      engine.view(from + count * length, length).set(leaves[first + count]!)
    engine.kernels.leaves(from, to + first * HASH_BYTES, count, length)
    first += count
    from += count * length
  }
}

/** W4.1.3. From opened leaves and the hashes beside them, a level at a time. */
function rootOfOpened(
  engine: ExactEngine,
  shape: TensorShape,
  leaves: ReadonlyMap<number, Uint8Array>,
  proof: Uint8Array,
): Uint8Array {
  const bytes = [...leaves.values()]
  const at = alignUp(engine.start, HASH_BYTES)
  const room = at + climbBytes(bytes.length, proof)
  engine.reserve(room + bytes.reduce((sum, { length }) => sum + length, 0))
  leavesAt(engine, bytes, room, at)
  return climb(engine, at, depthOf(leavesOf(shape)), [...leaves.keys()], proof)
}

const PLACE_BYTES = 8

/** What `climb` works on: hashes of leaves, room for twice as many, numbers of leaves, the hashes beside them. */
export const climbBytes = (leaves: number, proof: Uint8Array): number =>
  (3 * HASH_BYTES + PLACE_BYTES) * leaves + proof.length

/** W4.1.3. From the hashes of some leaves, ascending and without repeats, that lie at `at`, and those beside them to the root. */
export function climb(
  { kernels, view }: WorkEngine<Pick<WorkKernels, 'climb'>>,
  at: number,
  height: number,
  leaves: readonly number[],
  proof: Uint8Array,
): Uint8Array {
  if (proof.length !== proofBytes(height, leaves)) throw new RangeError('a proof of another size')
  const room = at + HASH_BYTES * leaves.length
  const places = room + 2 * HASH_BYTES * leaves.length
  const beside = places + PLACE_BYTES * leaves.length
  const { buffer, byteOffset } = view(places, PLACE_BYTES * leaves.length)
  const words = new Uint32Array(buffer, byteOffset, 2 * leaves.length)
  for (const [i, leaf] of leaves.entries()) {
    words[2 * i] = leaf % 2 ** 32
    words[2 * i + 1] = Math.floor(leaf / 2 ** 32)
  }
  view(beside, proof.length).set(proof)
  kernels.climb(at, places, beside, room, leaves.length, height)
  return view(at, HASH_BYTES).slice()
}

/** What is hashed at a time, of `most` leaves from `leaf` on: whole rows, or whole leaves of one. */
function stretchAt(shape: TensorShape, leaf: number, most: number) {
  const [perRow, bytes] = [leavesOfRow(shape), rowBytes(shape)]
  const { start } = leafSpan(shape, leaf)
  const rows = Math.floor(Math.min(most / perRow, STRETCH_BYTES / bytes))
  if (leaf % perRow === 0 && rows > 0) return { start, rows, width: bytes, leaves: rows * perRow }
  const leaves = Math.min(most, perRow - (leaf % perRow), STRETCH_BYTES / LEAF_BYTES)
  const last = leafSpan(shape, leaf + leaves - 1)
  return { start, rows: 1, width: last.start + last.length - start, leaves }
}

/** Trees of tensors by the kernels, on an engine of their own: rows in, hashes out, a stretch of them at a time. */
export function hasherOn(engine: ExactEngine): TensorHasher {
  const levelsUnder = (shape: TensorShape, bytes: Uint8Array, height: number, at: number): Uint8Array => {
    const to = engine.start
    const stretch = to + levelsBytes(height) + HASH_BYTES
    engine.reserve(stretch + STRETCH_BYTES)
    const first = at * 2 ** height
    const count = Math.min(2 ** height, Math.max(0, leavesOf(shape) - first))
    for (let done = 0; done < count; ) {
      const { start, rows, width, leaves } = stretchAt(shape, first + done, count - done)
      engine.view(stretch, rows * width).set(bytes.subarray(start, start + rows * width))
      engine.kernels.leaves(stretch, to + done * HASH_BYTES, rows, width)
      done += leaves
    }
    return treeOver(engine, height, count, to)
  }
  const tree = (shape: TensorShape, bytes: Uint8Array): Uint8Array =>
    levelsUnder(shape, bytes, depthOf(leavesOf(shape)), 0)
  return {
    root: (shape, bytes) => tree(shape, bytes).slice(-HASH_BYTES),
    tree(shape, bytes) {
      const all = tree(shape, bytes).slice()
      return { root: all.slice(-HASH_BYTES), prove: (leaves) => proveIn(shape, all, leaves) }
    },
    levelsUnder: (...asked) => levelsUnder(...asked).slice(),
    rootOfOpened: (shape, leaves, proof) => rootOfOpened(engine, shape, leaves, proof),
  }
}
