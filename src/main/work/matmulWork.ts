import type { TensorHasher } from '../../core/work/engineRun.ts'
import { decodeNpy, encodeNpy, type NpyMatrix } from '../../drivers/workFiles/npy.ts'
import { fault } from '../faults.ts'
import { type PreparedWork, prepareWork } from './workOrder.ts'

/** Rows of C that are made at once: large enough for a card, small enough to be shown. */
const BLOCK = 4096

export interface MatmulWork extends PreparedWork {
  readonly rows: number
  readonly columns: number
}

/** C = A B from two files of NumPy. */
export function matmulWork(files: readonly [Uint8Array, Uint8Array], hasher: TensorHasher): MatmulWork {
  const [a, b] = files.map((file, i) => readOperand(file, 'AB'[i]!)) as [NpyMatrix, NpyMatrix]
  if (a.width !== b.rows)
    throw fault('BAD_WORK_INPUT', { why: `A has ${a.width} columns and B ${b.rows} rows: they must be as many` })
  const [rows, columns, k] = [a.rows, b.width, a.width]
  const block = Math.min(rows, BLOCK)
  const given = new Map([
    ['a', a.bytes],
    ['b', turned(b)],
  ])
  const parameters = { rows, columns, k, block }
  const transitions = Math.ceil(rows / block)
  return { ...prepareWork({ kind: 'matmul', parameters, transitions, interval: 1 }, given, hasher), rows, columns }
}

/** Operands are -127 … 127: -128 has no opposite, and is refused (W2.1). */
export function readOperand(file: Uint8Array, name: string): NpyMatrix {
  const matrix = readMatrix(file, name)
  if (matrix.type !== 'i8') throw fault('BAD_WORK_INPUT', { why: `${name} is not of int8` })
  if (matrix.rows === 0 || matrix.width === 0) throw fault('BAD_WORK_INPUT', { why: `${name} is empty` })
  if (matrix.bytes.includes(0x80)) throw fault('BAD_WORK_INPUT', { why: `${name} holds -128: use -127 to 127` })
  return matrix
}

export function readMatrix(file: Uint8Array, name: string): NpyMatrix {
  try {
    return decodeNpy(file)
  } catch (error) {
    throw fault('BAD_WORK_INPUT', { why: `${name}: ${error instanceof Error ? error.message : error}` })
  }
}

/** The columns of B as rows: both operands lie along what is summed over. */
export function turned({ rows, width, bytes }: NpyMatrix): Uint8Array {
  const out = new Uint8Array(bytes.length)
  for (let i = 0; i < rows; i++) for (let j = 0; j < width; j++) out[j * rows + i] = bytes[i * width + j]!
  return out
}

export const encodeProduct = (rows: number, width: number, bytes: Uint8Array): Uint8Array =>
  encodeNpy({ type: 'i32', rows, width, bytes })
