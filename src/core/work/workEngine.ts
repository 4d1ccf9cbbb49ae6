import type { TensorHasher } from './engineRun.ts'
import type { FieldKernels } from './fieldKernels.ts'
import type { StepKernels } from './stepKernels.ts'
import { leavesOf, leavesOfRow, rowBytes, type TensorShape } from './tensor.ts'
import type { WorkEngine } from './tensorMemory.ts'
import { depthOf, missingNodes } from './tensorTree.ts'
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

/** Trees of tensors by the kernels, on an engine of their own: rows in, hashes out, a stretch of rows at a time. */
export function hasherOn(engine: ExactEngine): TensorHasher {
  const tree = (shape: TensorShape, bytes: Uint8Array): Uint8Array => {
    const depth = depthOf(leavesOf(shape))
    const hashes = 2 ** (depth + 1)
    const at = engine.start
    const leaves = leavesOf(shape) * HASH_BYTES
    const width = rowBytes(shape)
    const most = Math.max(1, Math.floor(STRETCH_BYTES / width))
    const stretch = at + hashes * HASH_BYTES
    engine.reserve(stretch + Math.min(most, shape.rows) * width)
    for (let row = 0; row < shape.rows; row += most) {
      const rows = Math.min(most, shape.rows - row)
      engine.view(stretch, rows * width).set(bytes.subarray(row * width, (row + rows) * width))
      engine.kernels.leaves(stretch, at + row * leavesOfRow(shape) * HASH_BYTES, rows, width)
    }
    engine.view(at + leaves, 2 ** depth * HASH_BYTES - leaves).fill(0)
    for (let level = 0, from = at; level < depth; level++) {
      const count = 2 ** (depth - level - 1)
      engine.kernels.nodes(from, from + 2 * count * HASH_BYTES, count)
      from += 2 * count * HASH_BYTES
    }
    return engine.view(at, (hashes - 1) * HASH_BYTES)
  }
  return {
    root: (shape, bytes) => tree(shape, bytes).slice(-HASH_BYTES),
    tree(shape, bytes) {
      const depth = depthOf(leavesOf(shape))
      const all = tree(shape, bytes).slice()
      const start = (level: number) => (2 ** (depth + 1) - 2 ** (depth + 1 - level)) * HASH_BYTES
      return {
        root: all.slice(-HASH_BYTES),
        prove(leaves) {
          const wanted = [...missingNodes(depth, leaves)]
          const out = new Uint8Array(wanted.length * HASH_BYTES)
          for (const [i, { level, at }] of wanted.entries()) {
            const from = start(level) + at * HASH_BYTES
            out.set(all.subarray(from, from + HASH_BYTES), i * HASH_BYTES)
          }
          return out
        },
      }
    },
  }
}
