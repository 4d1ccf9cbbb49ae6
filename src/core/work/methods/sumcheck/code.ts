import { PAIR_BYTES } from '../../fieldKernels.ts'
import { LEAF_BYTES, type TensorShape } from '../../tensor.ts'
import { coordinatesOf, type FieldEngine, type Rooms } from './evaluate.ts'
import { type Pair, times } from './field.ts'

/** W8.9.6. Columns that are looked at, drawn with repeats. */
export const COLUMNS = 160
/** Rows of the code that are compared with the SHA-256 tree. */
export const TIED_ROWS = 16
/** A codeword is so many times as long as its row. */
export const LENGTHENED = 4

/** W8.9.1. (3 - 4 i) / 5, whose order is 2^60. */
const ROOT: Pair = { re: 922337203685477581n, im: 1844674407370955160n }
const ROOT_ORDER_LOG = 60

/** The rows that an operand is written in for the code: as long as a small opening asks for. */
export interface Layout {
  /** log2 of the entries of a row, and of the number of rows. */
  readonly low: number
  readonly high: number
}

export function layoutOf(rows: number, width: number): Layout {
  const all = coordinatesOf(rows) + coordinatesOf(width)
  const bytesAt = (low: number) => 2 * 2 ** low + COLUMNS * 2 ** (all - low)
  let low = 0
  for (let next = 1; next <= all; next++) if (bytesAt(next) < bytesAt(low)) low = next
  return { low, high: all - low }
}

/** W8.9.8. With more entries a code is so long that plain chance errs with more than 2^-100. */
const MOST_COORDINATES = 30

export const isCodable = ({ rows, width }: Pick<TensorShape, 'rows' | 'width'>): boolean =>
  coordinatesOf(rows) + coordinatesOf(width) <= MOST_COORDINATES

export const codeLength = ({ low }: Layout): number => LENGTHENED * 2 ** low

/** W8.9.3. The columns of the code as the rows of a tensor, which has a tree as any other. */
export const columnsShape = (layout: Layout): TensorShape => ({
  type: 'u8',
  rows: codeLength(layout),
  width: PAIR_BYTES * 2 ** layout.high,
})

/** The leaves of some columns, ascending. */
export function leavesOfColumns(layout: Layout, columns: readonly number[]): readonly number[] {
  const each = Math.ceil(columnsShape(layout).width / LEAF_BYTES)
  return columns.flatMap((column) => Array.from({ length: each }, (_, i) => column * each + i))
}

/** Powers of the root of the code's length, half of them. */
export function rootPowers(engine: FieldEngine, rooms: Rooms, layout: Layout): number {
  const log = Math.log2(codeLength(layout))
  let root = ROOT
  for (let i = ROOT_ORDER_LOG; i > log; i--) root = times(root, root)
  const points: Pair[] = []
  for (let i = 0; i < log - 1; i++, root = times(root, root)) points.push(root)
  const out = rooms.room(PAIR_BYTES * 2 ** (log - 1))
  engine.kernels.powers(rooms.put(points), out, log - 1)
  return out
}

/** An operand with zeros up to powers of two. */
export function padded(bytes: Uint8Array, rows: number, width: number): Uint8Array {
  const [high, wide] = [2 ** coordinatesOf(rows), 2 ** coordinatesOf(width)]
  if (high === rows && wide === width) return bytes
  const out = new Uint8Array(high * wide)
  for (let row = 0; row < rows; row++) out.set(bytes.subarray(row * width, (row + 1) * width), row * wide)
  return out
}

/** The part of an operand that a row of the code is made of; null where all of it is filling. */
export function regionOf({ rows, width }: TensorShape, { low }: Layout, row: number) {
  const wide = 2 ** coordinatesOf(width)
  const [first, column] = [Math.floor((row * 2 ** low) / wide), (row * 2 ** low) % wide]
  const region = {
    row: first,
    rows: Math.min(Math.max(1, 2 ** low / wide), rows - first),
    column,
    columns: Math.min(2 ** low, width - column),
  }
  return region.rows > 0 && region.columns > 0 ? region : null
}
