import { requireThat } from '../../refusals.ts'
import { coordinatesOf } from '../sumcheck/evaluate.ts'
import { type Quad, ZERO } from './field31.ts'
import { type Claim, type PlacedTensor, type StepLayout, tensorOf } from './stepLayout.ts'

/** A claim of a class: its value, and the coordinates that weigh the rows of its tensor's code. */
export interface ClassClaim {
  readonly value: Quad
  readonly tensor: PlacedTensor
  readonly high: readonly Quad[]
}

/** W12.1.7. Claims with the same coordinates along the columns of the matrix, on tensors of one width. */
export interface ClaimClass {
  readonly width: number
  readonly wide: number
  readonly coordinates: readonly Quad[]
  readonly claims: readonly ClassClaim[]
}

/** The coordinates of a claim along the columns of the matrix, and along the rows of its tensor's code. */
export function splitPoint({ perRow }: PlacedTensor, row: readonly Quad[], column: readonly Quad[]) {
  const zeros = Array.from({ length: Math.max(0, perRow - row.length) }, () => ZERO)
  return { coordinates: [...column, ...row.slice(0, perRow), ...zeros], high: row.slice(perRow) }
}

/** W12.1.7. In the order of the first claim of each. */
export function classesOf(layout: StepLayout, claims: readonly Claim[]): readonly ClaimClass[] {
  const classes = new Map<string, ClaimClass & { claims: ClassClaim[] }>()
  for (const { name, row, column, value } of claims) {
    const tensor = tensorOf(layout, name)
    const { rows, width, wide } = tensor
    const fits = row.length === coordinatesOf(rows) && column.length === wide
    requireThat(fits, 'BAD_INPUT', `${name} is asked at ${row.length} and ${column.length} coordinates`)
    const { coordinates, high } = splitPoint(tensor, row, column)
    const key = JSON.stringify([width, coordinates])
    if (!classes.has(key)) classes.set(key, { width, wide, coordinates, claims: [] })
    classes.get(key)!.claims.push({ value, tensor, high })
  }
  return [...classes.values()]
}

/** How many numbers a class says: padding is not said, it is 0. */
export const numbersOf = ({ low }: StepLayout, { width, wide }: ClaimClass): number => width * 2 ** (low - wide)

/** Copies between rows of `width` that lie one after the other and rows that lie `apart`, in bytes. */
export function spread(from: Uint8Array, width: number, to: Uint8Array, apart: number): void {
  if (width === apart) to.set(from)
  else for (let at = 0, out = 0; at < from.length; at += width, out += apart) to.set(from.subarray(at, at + width), out)
}

export const ascending = (drawn: readonly number[]): readonly number[] => [...new Set(drawn)].sort((a, b) => a - b)

/** The leaves of columns in the tree: the hash of its int8 part, then that of its int32 part. */
export const leavesOfColumns = (columns: readonly number[]): readonly number[] =>
  columns.flatMap((column) => [2 * column, 2 * column + 1])
