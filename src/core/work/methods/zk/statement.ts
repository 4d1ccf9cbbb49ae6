import { concatBytes, u32le } from '../../../bytes/bytes.ts'
import { taggedHash } from '../../../bytes/sha256.ts'
import { combine, decodePoints, dot, namedPoint, POINT_BYTES, type Point, reduce } from './group.ts'

/** Larger ones take seconds in this way of proving; `docs/methods.md` says what they would need. */
export const MOST_INNER = 1024
export const MOST_SIDE = 1024
export const MOST_ENTRIES = 4096
export const MOST_INPUTS = 65_536

export interface Sizes {
  readonly rows: number
  /** What is summed over: a power of two; smaller matrices are padded with zeros. */
  readonly inner: number
  readonly columns: number
}

/** Entries in the open as int32, or a commitment to each entry or column. */
export type Side = { readonly open: readonly number[] } | { readonly hidden: readonly Uint8Array[] }

/** W10.2. C = A B, of which A is hidden always. */
export interface PrivateProduct extends Sizes {
  /** A commitment to each row of A. */
  readonly a: readonly Uint8Array[]
  /** B by its columns: all entries, or a commitment to each column. */
  readonly b: Side
  /** C by its rows: all entries, or a commitment to each. */
  readonly c: Side
}

/** W10.1.4. Points that everybody makes. */
export interface Bases {
  readonly value: Point
  readonly blind: Point
  readonly inner: Point
  readonly left: readonly Point[]
  readonly right: readonly Point[]
}

/** What A's commitments are called: whoever published it is bound to one A. */
export const matrixId = (commitments: readonly Uint8Array[]): Uint8Array => taggedHash('tsz1/matrix', ...commitments)

const NOTHING = new Uint8Array()
const pointsFor = (name: string, of: Uint8Array, count: number): readonly Point[] =>
  Array.from({ length: count }, (_, i) => namedPoint(name, of, i))

/** Bases of A's rows: the same for every A. */
export const leftBases = (inner: number): Pick<Bases, 'blind' | 'left'> => ({
  blind: namedPoint('blind', NOTHING, 0),
  left: pointsFor('left', NOTHING, inner),
})

/** Those of B follow from the commitments to A, so that no part of A can lie along them. */
export const basesFor = (inner: number, id: Uint8Array): Bases => ({
  ...leftBases(inner),
  value: namedPoint('value', NOTHING, 0),
  inner: namedPoint('inner', NOTHING, 0),
  right: pointsFor('right', id, inner),
})

/** W10.2.2. A commitment to numbers, hidden by a number that nobody else knows. */
export const commit = (bases: readonly Point[], blind: Point, numbers: readonly bigint[], by: bigint): Point =>
  combine([...bases, blind], [...numbers, by])

export const isFit = ({ rows, inner, columns }: Sizes): boolean =>
  [rows, inner, columns].every((size) => Number.isInteger(size) && size >= 1) &&
  Number.isInteger(Math.log2(inner)) &&
  inner <= MOST_INNER &&
  rows <= MOST_SIDE &&
  columns <= MOST_SIDE &&
  rows * columns <= MOST_ENTRIES &&
  columns * inner <= MOST_INPUTS

const isInt32 = (entry: number): boolean => entry === (entry | 0)
const hasForm = (side: Side, entries: number, commitments: number): boolean =>
  'open' in side
    ? side.open.length === entries && side.open.every(isInt32)
    : side.hidden.length === commitments && side.hidden.every(({ length }) => length === POINT_BYTES)

/** Whether everything is there, in its size. */
export function isWellFormed(product: PrivateProduct): boolean {
  const { rows, inner, columns, a, b, c } = product
  return (
    isFit(product) &&
    a.length === rows &&
    a.every(({ length }) => length === POINT_BYTES) &&
    hasForm(b, columns * inner, columns) &&
    hasForm(c, rows * columns, rows * columns)
  )
}

const spell = (side: Side): Uint8Array =>
  'open' in side
    ? concatBytes(Uint8Array.of(0), new Uint8Array(Int32Array.from(side.open).buffer))
    : concatBytes(Uint8Array.of(1), ...side.hidden)

/** W10.3.1. What the transcript begins with. */
export const spellProduct = ({ rows, inner, columns, a, b, c }: PrivateProduct): Uint8Array =>
  concatBytes(...[rows, inner, columns].map(u32le), ...a, spell(b), spell(c))

/** Points, and what each counts in a sum of all. */
export interface Terms {
  readonly points: readonly Point[]
  readonly scalars: readonly bigint[]
}

/** What follows from the commitments for the one sum that is left. */
export interface Drawn {
  /** r^T A: the rows of A. */
  readonly rows: Terms
  /** B s: columns that are hidden, or numbers along the bases of B. */
  readonly columns: { readonly hidden: Terms } | { readonly open: readonly bigint[] }
  /** r^T C s: entries that are hidden, or the one number. */
  readonly value: { readonly hidden: Terms } | { readonly open: bigint }
}

/** W10.4.1. Null where a commitment is no point. */
export function drawn(product: PrivateProduct, r: readonly bigint[], s: readonly bigint[]): Drawn | null {
  const { inner, columns, a, b, c } = product
  const rows = decodePoints(a)
  const hiddenB = decodePoints('hidden' in b ? b.hidden : [])
  const hiddenC = decodePoints('hidden' in c ? c.hidden : [])
  if (!rows || !hiddenB || !hiddenC) return null
  const weights = r.flatMap((x) => s.map((y) => reduce(x * y)))
  return {
    rows: { points: rows, scalars: r },
    columns:
      'open' in b ? { open: columnSums(b.open, inner, columns, s) } : { hidden: { points: hiddenB, scalars: s } },
    value: 'open' in c ? { open: dot(weights, c.open.map(BigInt)) } : { hidden: { points: hiddenC, scalars: weights } },
  }
}

/** B s, B by its columns. */
export function columnSums(
  entries: readonly (number | bigint)[],
  inner: number,
  columns: number,
  s: readonly bigint[],
): readonly bigint[] {
  return Array.from({ length: inner }, (_, l) => {
    let sum = 0n
    for (let j = 0; j < columns; j++) sum += s[j]! * BigInt(entries[j * inner + l]!)
    return reduce(sum)
  })
}
