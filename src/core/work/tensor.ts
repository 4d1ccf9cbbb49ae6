/** Bytes of an element. Everything is little-endian, row by row. */
export const ELEMENT_BYTES = { i8: 1, u8: 1, i32: 4, u32: 4, f32: 4 } as const

export type ElementType = keyof typeof ELEMENT_BYTES

/** What a tensor is made of. A tensor of more dimensions lies as rows of its last one. */
export interface TensorShape {
  readonly type: ElementType
  readonly rows: number
  readonly width: number
}

/** A rectangle of a tensor. */
export interface Region {
  readonly row: number
  readonly rows: number
  readonly column: number
  readonly columns: number
}

/** W4.1. A leaf is up to so many bytes of one row. */
export const LEAF_BYTES = 1024

export const rowBytes = ({ type, width }: TensorShape): number => ELEMENT_BYTES[type] * width
export const tensorBytes = (shape: TensorShape): number => shape.rows * rowBytes(shape)
export const leavesOfRow = (shape: TensorShape): number => Math.ceil(rowBytes(shape) / LEAF_BYTES)
export const leavesOf = (shape: TensorShape): number => shape.rows * leavesOfRow(shape)

/** W2.6. What a tensor that comes from outside holds and may not, in words; null if nothing. */
export function outsideFault(type: ElementType, bytes: Uint8Array): string | null {
  if (type === 'i8') return bytes.includes(0x80) ? '-128' : null
  if (type !== 'f32') return null
  for (let top = 3; top < bytes.length; top += 4)
    if ((bytes[top]! & 0x7f) === 0x7f && bytes[top - 1]! >= 0x80) return 'a number that is infinite or none'
  return null
}

export const isInside = ({ row, rows, column, columns }: Region, shape: TensorShape): boolean =>
  row >= 0 && rows > 0 && row + rows <= shape.rows && column >= 0 && columns > 0 && column + columns <= shape.width

/** The bytes of a leaf: where they lie in the tensor, and how many. */
export function leafSpan(shape: TensorShape, leaf: number): { readonly start: number; readonly length: number } {
  const perRow = leavesOfRow(shape)
  const bytes = rowBytes(shape)
  const inRow = (leaf % perRow) * LEAF_BYTES
  return { start: Math.floor(leaf / perRow) * bytes + inRow, length: Math.min(LEAF_BYTES, bytes - inRow) }
}

/** The leaves that hold a region, ascending. */
export function leavesUnder(shape: TensorShape, { row, rows, column, columns }: Region): number[] {
  const size = ELEMENT_BYTES[shape.type]
  const first = Math.floor((column * size) / LEAF_BYTES)
  const last = Math.floor(((column + columns) * size - 1) / LEAF_BYTES)
  const perRow = leavesOfRow(shape)
  const across = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  return Array.from({ length: rows }, (_, i) => (row + i) * perRow).flatMap((start) => across.map((i) => start + i))
}

/** The bytes of a region, packed row by row, from whatever holds the bytes of its leaves. */
export function packRegion(shape: TensorShape, region: Region, leafBytes: (leaf: number) => Uint8Array): Uint8Array {
  const size = ELEMENT_BYTES[shape.type]
  const out = new Uint8Array(region.rows * region.columns * size)
  const perRow = leavesOfRow(shape)
  const [from, to] = [region.column * size, (region.column + region.columns) * size]
  for (let i = 0; i < region.rows; i++)
    for (let at = Math.floor(from / LEAF_BYTES); at * LEAF_BYTES < to; at++) {
      const bytes = leafBytes((region.row + i) * perRow + at)
      const start = at * LEAF_BYTES
      const part = bytes.subarray(Math.max(from - start, 0), Math.min(to - start, LEAF_BYTES))
      out.set(part, i * (to - from) + Math.max(start - from, 0))
    }
  return out
}
