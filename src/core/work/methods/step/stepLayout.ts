import { ascii, concatBytes, u32le } from '../../../bytes/bytes.ts'
import { requireThat } from '../../refusals.ts'
import { ELEMENT_BYTES } from '../../tensor.ts'
import { coordinatesOf } from '../sumcheck/evaluate.ts'
import type { Quad } from './field31.ts'

/** W12.1.8. Columns that are looked at, drawn with repeats. */
export const COLUMNS = 665

const LEAST_LOW = 8
const USUAL_LOW = 14
const MOST_LOW = 17
/** All rows of a matrix have a weight each in the memory of whoever checks. */
const MOST_CODE_ROWS = 2 ** 20

export type KeptType = 'i8' | 'i32'

/** A tensor that a transition keeps under the matrix. */
export interface KeptTensor {
  readonly name: string
  readonly type: KeptType
  readonly rows: number
  readonly width: number
}

/** Where a tensor lies: 2^perRow of its rows, each padded to 2^wide entries, are a row of the code. */
export interface PlacedTensor extends KeptTensor {
  readonly size: 1 | 4
  readonly wide: number
  readonly perRow: number
  /** Its first row of the code, among those of its type, and how many it has. */
  readonly first: number
  readonly codeRows: number
}

/** W12.1.5. All kept tensors in one matrix of 2^low columns: rows of int8 first, then those of int32. */
export interface StepLayout {
  readonly low: number
  readonly tensors: readonly PlacedTensor[]
  readonly byName: ReadonlyMap<string, PlacedTensor>
  readonly rows: Readonly<Record<KeptType, number>>
}

const paddedEntries = ({ rows, width }: KeptTensor): number => rows * 2 ** coordinatesOf(width)

function lowOf(tensors: readonly KeptTensor[]): number {
  const entries = tensors.reduce((sum, tensor) => sum + paddedEntries(tensor), 0)
  let low = LEAST_LOW
  while (low < USUAL_LOW && 4 ** low < 8 * entries) low++
  return Math.max(low, ...tensors.map(({ width }) => coordinatesOf(width)))
}

/** The matrix of some tensors, in the order in which those of a type come. */
export function layoutOf(tensors: readonly KeptTensor[]): StepLayout {
  requireThat(tensors.length > 0, 'BAD_INPUT', 'no tensor is kept')
  requireThat(new Set(tensors.map(({ name }) => name)).size === tensors.length, 'BAD_INPUT', 'a name comes twice')
  const isSize = (size: number) => Number.isSafeInteger(size) && size > 0
  requireThat(
    tensors.every(({ rows, width }) => isSize(rows) && isSize(width)),
    'BAD_INPUT',
    'a tensor has no entries',
  )
  const low = lowOf(tensors)
  requireThat(low <= MOST_LOW, 'TOO_BIG', `rows of more than ${2 ** MOST_LOW} entries`)
  const rows = { i8: 0, i32: 0 }
  const placed = tensors.map((tensor): PlacedTensor => {
    const codeRows = Math.ceil(paddedEntries(tensor) / 2 ** low)
    const [wide, first] = [coordinatesOf(tensor.width), rows[tensor.type]]
    rows[tensor.type] += codeRows
    return { ...tensor, size: ELEMENT_BYTES[tensor.type], wide, perRow: low - wide, first, codeRows }
  })
  requireThat(rows.i8 + rows.i32 <= MOST_CODE_ROWS, 'TOO_BIG', `a matrix of more than ${MOST_CODE_ROWS} rows`)
  return { low, tensors: placed, byName: new Map(placed.map((tensor) => [tensor.name, tensor])), rows }
}

/** W12.1.5. What a statement says about the matrix, beside its root. */
export const spellLayout = ({ tensors }: StepLayout): Uint8Array =>
  concatBytes(
    u32le(tensors.length),
    ...tensors.flatMap(({ name, size, rows, width }) => [...[name.length, size, rows, width].map(u32le), ascii(name)]),
  )

/** The number of a row of the code in the whole matrix. */
export const rowOf = (layout: StepLayout, { type, first }: PlacedTensor): number =>
  type === 'i8' ? first : layout.rows.i8 + first

export const tensorOf = (layout: StepLayout, name: string): PlacedTensor => {
  const tensor = layout.byName.get(name)
  if (!tensor) throw new RangeError(`${name} is not kept`)
  return tensor
}

/** W12.1.2. n, the length of a codeword. */
export const codeLength = (layout: StepLayout): number => 2 ** layout.low + furtherColumns(layout)

/** How many of them are no entries of the row. */
export const furtherColumns = ({ low }: StepLayout): number => 2 ** (low - 2)

/** The value of a tensor at a point, rows and columns apart, coordinate 0 for the lowest bit. */
export interface Claim {
  readonly name: string
  readonly row: readonly Quad[]
  readonly column: readonly Quad[]
  readonly value: Quad
}

/** Rows of a tensor that are shown in the clear. */
export interface Reveal {
  readonly name: string
  readonly row: number
  readonly rows: number
}

/** The rows of the code that are shown, tensor by tensor: those asked for, and every last one that is not full. */
export function revealedRows(
  layout: StepLayout,
  reveals: readonly Reveal[],
): readonly { readonly tensor: PlacedTensor; readonly rows: readonly number[] }[] {
  const lastOf = ({ rows, perRow, codeRows }: PlacedTensor) => (rows % 2 ** perRow === 0 ? [] : [codeRows - 1])
  const shown = new Map(layout.tensors.map((tensor) => [tensor, new Set(lastOf(tensor))]))
  for (const { name, row, rows } of reveals) {
    const tensor = tensorOf(layout, name)
    const isThere = row >= 0 && rows > 0 && row + rows <= tensor.rows
    requireThat(isThere, 'BAD_INPUT', `${name} has no rows ${row} to ${row + rows - 1}`)
    const [from, to] = [row, row + rows - 1].map((at) => Math.floor(at / 2 ** tensor.perRow))
    for (let at = from!; at <= to!; at++) shown.get(tensor)!.add(at)
  }
  const found = [...shown].map(([tensor, rows]) => ({ tensor, rows: [...rows].sort((a, b) => a - b) }))
  return found.filter(({ rows }) => rows.length > 0)
}

/** How many rows of the tensor a row of its code holds. */
export const rowsInCodeRow = ({ rows, perRow }: PlacedTensor, codeRow: number): number =>
  Math.min(2 ** perRow, rows - codeRow * 2 ** perRow)

/** How many bytes some rows of a tensor's code are said in: padding is not said. */
export const shownBytes = (tensor: PlacedTensor, codeRows: readonly number[]): number =>
  codeRows.reduce((sum, row) => sum + rowsInCodeRow(tensor, row) * tensor.width * tensor.size, 0)
