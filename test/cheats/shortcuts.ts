import { TILE } from '../../src/core/params/constants.ts'
import { entryRow, MATRIX_A, MATRIX_B } from '../../src/core/proof/entries.ts'
import { engineOfTiles, fma32 } from '../../src/core/proof/referenceEngine.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { bitsOf } from '../support/exactFma.ts'
import type { ProductShape } from '../support/referenceRound.ts'

/** Cheaper ways to something that looks like a product. */

/** One row of A or of the transposed B. */
export type Rows = (matrix: 0 | 1, row: number) => Float64Array

export const ourRows =
  (seed: Uint8Array, { precision, k }: ProductShape): Rows =>
  (matrix, row) =>
    entryRow(seed, matrix, precision, row, k)

export interface Forged {
  readonly c: Float64Array
  readonly multiplyAdds: number
}

/**
 * The whole product in O(n k + m n) where an entry depends on i + j alone: both matrices are then Hankel, and
 * C[i+1, j+1] = C[i, j] + a[i+1, k-1] b[j+1, k-1] - a[i, 0] b[j, 0]. Only the first row and column cost dot products.
 */
export function forgeHankel({ m, n, k }: Pick<ProductShape, 'm' | 'n' | 'k'>, rows: Rows): Forged {
  const a = Array.from({ length: m }, (_, i) => rows(MATRIX_A, i))
  const b = Array.from({ length: n }, (_, j) => rows(MATRIX_B, j))
  const c = new Float64Array(m * n)
  const dot = (i: number, j: number) => a[i]!.reduce((sum, value, x) => sum + value * b[j]![x]!, 0)
  for (let j = 0; j < n; j++) c[j] = dot(0, j)
  for (let i = 1; i < m; i++) c[i * n] = dot(i, 0)
  for (let i = 1; i < m; i++)
    for (let j = 1; j < n; j++)
      c[i * n + j] = c[(i - 1) * n + j - 1]! + a[i]![k - 1]! * b[j]![k - 1]! - a[i - 1]![0]! * b[j - 1]![0]!
  return { c, multiplyAdds: (m + n - 1) * k + 2 * (m - 1) * (n - 1) }
}

/** C' with C' r = A (B^T r) for the vector r that was asked, and nothing of C in it: all of the sketch in one column. */
export function forgeSketch({ m, n, k }: Pick<ProductShape, 'm' | 'n' | 'k'>, rows: Rows, r: Float64Array): Forged {
  const br = new Float64Array(k)
  for (let j = 0; j < n; j++) {
    const row = rows(MATRIX_B, j)
    for (let x = 0; x < k; x++) br[x] = br[x]! + row[x]! * r[j]!
  }
  const c = new Float64Array(m * n)
  for (let i = 0; i < m; i++) c[i * n] = rows(MATRIX_A, i).reduce((sum, value, x) => sum + value * br[x]!, 0) / r[0]!
  return { c, multiplyAdds: (m + n) * k }
}

/** A matrix cut into the tiles of §5, as u32 words. */
export function tilesOfMatrix(c: Float64Array, { m, n }: Pick<ProductShape, 'm' | 'n'>): Uint32Array[] {
  const columns = n / TILE
  return Array.from({ length: (m / TILE) * columns }, (_, tile) =>
    Uint32Array.from({ length: TILE * TILE }, (_, e) => {
      const row = Math.floor(tile / columns) * TILE + Math.floor(e / TILE)
      return c[row * n + (tile % columns) * TILE + (e % TILE)]! >>> 0
    }),
  )
}

/** Rounds a value to `bits` bits of significand, to nearest even; no finer than `least`. */
export function roundSignificand(value: number, bits: number, least = 0): number {
  if (value === 0) return 0
  const unit = Math.max(least, 2 ** (Math.floor(Math.log2(Math.abs(value))) - bits + 1))
  const scaled = value / unit
  const down = Math.floor(scaled)
  const tie = scaled - down === 0.5
  return (tie ? down + (down % 2 === 0 ? 0 : 1) : Math.round(scaled)) * unit
}

/** Another way to a dot product: what becomes of the operands, and how they are summed. */
export interface Shortcut {
  readonly operand?: (value: number) => number
  readonly dot?: (a: Float64Array, b: Float64Array) => number
}

const sum = (values: Float64Array, add: (sum: number, value: number, i: number) => number): number => {
  let total = 0
  for (let i = 0; i < values.length; i++) total = add(total, values[i]!, i)
  return total
}

const chain = (a: Float64Array, b: Float64Array): number => sum(a, (total, value, i) => fma32(value, b[i]!, total))
const exact = (a: Float64Array, b: Float64Array): number => sum(a, (total, value, i) => total + value * b[i]!)

/** Ways to an fp32 problem that a faster unit could take. */
export const FP32_SHORTCUTS: Readonly<Record<string, Shortcut>> = {
  'fp16 operands': { operand: (value) => roundSignificand(value, 11, 2 ** -24), dot: chain },
  'TF32 operands': { operand: (value) => roundSignificand(value, 11), dot: chain },
  'bf16 operands': { operand: (value) => roundSignificand(value, 8), dot: chain },
  'k descending': { dot: (a, b) => chain(a.slice().reverse(), b.slice().reverse()) },
  'k in two halves': {
    dot: (a, b) => {
      const half = a.length / 2
      return Math.fround(chain(a.subarray(0, half), b.subarray(0, half)) + chain(a.subarray(half), b.subarray(half)))
    },
  },
  'a multiplication and an addition rounded apart': {
    dot: (a, b) => sum(a, (total, value, i) => Math.fround(total + Math.fround(value * b[i]!))),
  },
  'double precision, rounded once': { dot: (a, b) => Math.fround(exact(a, b)) },
}

/** Ways to an exact problem with operands that hold less than they must. */
export const EXACT_SHORTCUTS = {
  'int8 operands': { operand: (value) => Math.max(-128, Math.min(127, value)) },
  'operands halved to fit int8': { operand: (value) => 2 * Math.trunc(value / 2) },
  'fp8 operands': { operand: (value) => roundSignificand(value, 4) },
  'bf16 operands': { operand: (value) => roundSignificand(value, 8) },
  'int4 operands': { operand: (value) => Math.max(-8, Math.min(7, value)) },
} satisfies Readonly<Record<string, Shortcut>>

/** An engine that takes the shortcut in every dot product. */
export function shortcutEngine({ operand = (value) => value, dot = exact }: Shortcut): TileEngine {
  return engineOfTiles(({ seed, precision, k, tileRow, tileColumn }) => {
    const rows = (matrix: 0 | 1, first: number) =>
      Array.from({ length: TILE }, (_, i) => entryRow(seed, matrix, precision, first * TILE + i, k).map(operand))
    const a = rows(MATRIX_A, tileRow)
    const b = rows(MATRIX_B, tileColumn)
    return Uint32Array.from({ length: TILE * TILE }, (_, e) => {
      const value = dot(a[Math.floor(e / TILE)]!, b[e % TILE]!)
      return precision === 'fp32' ? bitsOf(value) : value >>> 0
    })
  })
}
