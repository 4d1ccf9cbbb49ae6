import { DecodeError } from '../../core/bytes/reader.ts'

/** A matrix of whole numbers as NumPy stores it, row by row. */
export interface NpyMatrix {
  readonly type: 'i8' | 'i32'
  readonly rows: number
  readonly width: number
  readonly bytes: Uint8Array
}

const MAGIC = '\x93NUMPY'
const TYPES = { '|i1': { type: 'i8', size: 1 }, '<i4': { type: 'i32', size: 4 } } as const
const HEADER = /^\{'descr': '([^']{1,8})', 'fortran_order': (True|False), 'shape': \((\d{1,12}), (\d{1,12})\), ?\}\s*$/

/** Reads an .npy file strictly: a matrix of int8 or int32, in rows, no longer and no shorter than it says. */
export function decodeNpy(file: Uint8Array): NpyMatrix {
  const latin1 = (from: number, to: number) => new TextDecoder('latin1').decode(file.subarray(from, to))
  if (file.length < 12 || latin1(0, 6) !== MAGIC) throw new DecodeError('npy: not a file of NumPy')
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const isFirst = file[6] === 1
  const start = isFirst ? 10 : 12
  const end = start + (isFirst ? view.getUint16(8, true) : view.getUint32(8, true))
  const [, descr = '', order, rows, width] =
    HEADER.exec(end > file.length || end > 4096 ? '' : latin1(start, end)) ?? []
  if (order === undefined) throw new DecodeError('npy: the header is not that of a matrix')
  if (order === 'True') throw new DecodeError('npy: the matrix lies by columns; save it in C order')
  if (!Object.hasOwn(TYPES, descr)) throw new DecodeError('npy: the elements are neither int8 nor int32')
  const { type, size } = TYPES[descr as keyof typeof TYPES]
  const bytes = file.subarray(end)
  if (bytes.length !== Number(rows) * Number(width) * size) throw new DecodeError('npy: cut short, or too long')
  return { type, rows: Number(rows), width: Number(width), bytes }
}

/** The same file for any matrix. */
export const encodeNpy = ({ type, rows, width, bytes }: NpyMatrix): Uint8Array =>
  encodeArray(type === 'i8' ? '|i1' : '<i4', [rows, width], bytes)

/** Floats in an array of several dimensions, the last one fastest. */
export const encodeNpyFloats = (shape: readonly number[], values: Float32Array): Uint8Array =>
  encodeArray('<f4', shape, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))

/** Version 1, padded as NumPy does. */
function encodeArray(descr: string, shape: readonly number[], bytes: Uint8Array): Uint8Array {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`
  const length = Math.ceil((10 + text.length + 1) / 64) * 64 - 10
  const out = new Uint8Array(10 + length + bytes.length)
  out.set(Buffer.from(MAGIC, 'latin1'))
  out.set([1, 0, length & 255, length >> 8], 6)
  out.set(Buffer.from(`${text.padEnd(length - 1)}\n`, 'latin1'), 10)
  out.set(bytes, 10 + length)
  return out
}
