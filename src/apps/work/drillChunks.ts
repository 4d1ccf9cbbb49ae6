import { toHex } from '../../core/bytes/hex.ts'
import { MATRIX_A, MATRIX_B } from '../../core/proof/entries.ts'
import { operandRows } from '../../core/work/drilled/operands.ts'
import { BAND_CHUNKS, bandOf, CHUNK_ROWS, COLUMNS } from '../../core/work/drilled/productTask.ts'
import type { TensorHasher } from '../../core/work/engineRun.ts'
import type { TensorShape } from '../../core/work/tensor.ts'
import { openWork } from '../../core/work/work.ts'
import { WORK_KINDS } from '../../core/work/workKinds.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { encodeSpec } from '../../core/work/workSpec.ts'
import type { WorkDevice } from '../../ports/workDevice.ts'

/** Chunks of a task (docs/spec/chain.md §5.4) that are made together: some of one band. */
export interface Slice {
  readonly seed: Uint8Array
  readonly k: number
  readonly first: number
  readonly count: number
}

/** Chunks that one slice has at most: what else is waiting for the device has its turn in between. */
const SLICE_CHUNKS = 64

/** All slices of a task, in their order. */
export const slicesOf = (seed: Uint8Array, k: number, depth: number): Slice[] => {
  const count = Math.min(SLICE_CHUNKS, 2 ** depth, BAND_CHUNKS)
  return Array.from({ length: 2 ** depth / count }, (_, i) => ({ seed, k, first: i * count, count }))
}

interface Factor {
  readonly bytes: Uint8Array
  readonly root: string
}

/** A device that makes chunks: each is the state after a block of rows of an integer product (W3, matmul). */
export function openDrill(device: WorkDevice, { root }: Pick<TensorHasher, 'root'>) {
  const rows = (seed: Uint8Array, matrix: 0 | 1, first: number, count: number, k: number): Factor => {
    const shape: TensorShape = { type: 'i8', rows: count, width: k }
    const bytes = operandRows(seed, matrix, first, count, k)
    return { bytes, root: toHex(root(shape, bytes)) }
  }
  let last: { readonly name: string; readonly factor: Factor } | null = null
  const columnsOf = (seed: Uint8Array, k: number): Factor => {
    const name = `${toHex(seed)}/${k}`
    if (last?.name !== name) last = { name, factor: rows(seed, MATRIX_B, 0, COLUMNS, k) }
    return last.factor
  }
  return async ({ seed, k, first, count }: Slice): Promise<Uint8Array[]> => {
    const band = bandOf(seed, first)
    const a = rows(band.seed, MATRIX_A, band.tileRow * CHUNK_ROWS, count * CHUNK_ROWS, k)
    const b = columnsOf(band.seed, k)
    const parameters = { rows: count * CHUNK_ROWS, columns: COLUMNS, k, block: CHUNK_ROWS }
    const inputs = [
      { name: 'a', uri: 'seed', root: a.root },
      { name: 'b', uri: 'seed', root: b.root },
    ]
    const text = encodeSpec({ kind: 'matmul', version: 1, parameters, inputs, transitions: count, interval: 1 })
    const work = openWork(WORK_KINDS, EXACT_OPS, { text, orderId: band.seed, seed: band.seed })
    const given = new Map([
      ['a', a.bytes],
      ['b', b.bytes],
    ])
    const run = await device.start(work, given)
    const chunks: Uint8Array[] = []
    for (let segment = 0; segment < count; segment++) chunks.push((await run.advance(segment)).root)
    return chunks
  }
}
