import { bitsOf } from '../ops/shapes.ts'
import type { Needed } from '../program.ts'
import type { ProgramBuilder } from '../programBuilder.ts'
import { MASK } from '../workKernels.ts'
import { type Quantised, quantised, type Rounding, roundedByChance, scalesAsRow } from './layers.ts'

/** Sequences of tokens, and how a row of q, k or v is made of heads. */
export interface Heads {
  readonly sequences: number
  readonly tokens: number
  readonly heads: number
  /** Heads of keys and values; several heads of queries share one. */
  readonly keyHeads: number
  readonly size: number
}

/** W2.1.4. Products over tokens are made in pieces of so many, each with scales of its own. */
const HEAD_PIECE = 64

/** What the way back needs of the way there. */
export interface Attended {
  /** Tokens by heads side by side. */
  readonly out: string
  readonly q: Quantised
  readonly k: Quantised
  readonly v: Quantised
  /** Scales of q, times that of the scores. */
  readonly scales: string
  /** A row for each token and head: exponentials of scores, their sum, and what came of them. */
  readonly weights: string
  readonly total: string
  readonly rows: string
}

const split = (p: ProgramBuilder, { tokens, size }: Heads, heads: number, x: string): string =>
  p.step('splitHeads', [x], { tokens, heads, size })

/** One token and one head to a row. */
function headRows(p: ProgramBuilder, shape: Heads, heads: number, x: string): Quantised {
  return quantised(p, split(p, shape, heads, x), shape.sequences * heads * shape.tokens, shape.size)
}

const factorOf = ({ size }: Heads): number => bitsOf(1 / Math.sqrt(size))

/** W4.5. Of scores of every query with every key, those that are not above the diagonal. */
const belowDiagonal = ({ tokens }: Heads): Needed => ({ always: (tokens + 1) / (2 * tokens), asked: 0 })

/**
 * W2.8. Every query sees the keys up to its own; exponentials over the whole row, the values by them, then their sum.
 * `needed`: of the queries, where only the last of a sequence are (W4.5).
 */
export function attend(
  p: ProgramBuilder,
  shape: Heads,
  { q, k, v }: Record<'q' | 'k' | 'v', string>,
  needed: Needed | null = null,
): Attended {
  const { sequences, tokens, heads, keyHeads, size } = shape
  const of = {
    q: p.needed(needed, () => headRows(p, shape, heads, q)),
    k: headRows(p, shape, keyHeads, k),
    v: headRows(p, shape, keyHeads, v),
  }
  const shared = heads / keyHeads
  const batch = { batch: sequences * heads, shared }
  // Keys and values of one head serve all tokens of the heads that share it.
  const rowsEach = tokens * shared
  // The last query of a sequence sees all of its keys, and half of the product is counted.
  const seen = needed ?? belowDiagonal(shape)
  const sums = p.needed(needed && { ...needed, asked: 2 * needed.asked }, () =>
    p.step('product', [of.q.q, of.k.q], { ...batch, mask: MASK.result }),
  )
  const scales = p.needed(needed, () => queryScales(p, shape, of.q))
  const columns = scalesAsRow(p, of.k, tokens)
  const scores = p.needed(seen, () => p.step('dequantise', [sums, scales, columns], { hasColumns: 1, rowsEach }))
  const fold = scalesAsRow(p, of.v, tokens)
  const values = p.step('transpose', [of.v.q], { batch: sequences * keyHeads })
  const weighed = p.needed(seen, () => weigh(p, { scores, fold, values, rowsEach }, batch, { period: tokens }))
  return { out: p.step('joinHeads', [weighed.rows], { tokens, heads, size }), ...of, scales, ...weighed }
}

/** Scales of queries with the factor of the scores. */
export const queryScales = (p: ProgramBuilder, shape: Heads, q: Quantised): string =>
  p.step('scale', [q.scales], { factor: factorOf(shape) })

/** The values by exponentials of the scores, over their sum; scales of values are folded in, one vector for `rowsEach` rows. */
export function weigh(
  p: ProgramBuilder,
  of: { readonly scores: string; readonly fold: string; readonly values: string; readonly rowsEach: number },
  batch: { readonly batch: number; readonly shared: number },
  seen: { readonly period?: number } = {},
): Pick<Attended, 'weights' | 'total' | 'rows'> {
  const maximum = p.step('rowMaximum', [of.scores], seen)
  const weights = p.step('exponential', [of.scores, maximum], seen)
  const total = p.step('rowSum', [weights])
  const pieces = { rowsEach: of.rowsEach, piece: HEAD_PIECE }
  const scales = p.step('rowScale', [weights, of.fold], pieces)
  const rounded = p.step('quantise', [weights, scales, of.fold], pieces)
  const sums = p.step('productPieces', [rounded, scales, of.values], { ...batch, piece: HEAD_PIECE })
  return { weights, total, rows: p.step('divideRows', [sums, total]) }
}

/**
 * Gradients of q, k and v, tokens by heads. Every head has keys of its own here. With e the exponentials, the shares are
 * e / total: who is summed over queries folds 1 / total in, who is summed over keys is divided by it at the end.
 */
export function attendBackward(
  p: ProgramBuilder,
  rounding: Rounding,
  shape: Heads,
  { q, k, v, scales, weights, total, rows }: Attended,
  dOut: string,
): Record<'q' | 'k' | 'v', string> {
  const { sequences, tokens, heads, size } = shape
  const batch = sequences * heads
  const rowsEach = tokens
  const join = (x: string) => p.step('joinHeads', [x], { tokens, heads, size })
  const turn = (x: string) => p.step('transpose', [x], { batch })
  const dRows = split(p, shape, heads, dOut)
  const dy = { ...roundedByChance(p, rounding, dRows, null), rows: q.rows, width: size }
  const dot = p.step('rowDot', [dRows, rows])
  const inner = p.step('product', [dy.q, v.q], { batch, mask: MASK.result })
  const among = <T>(write: () => T): T => p.needed(belowDiagonal(shape), write)
  const columns = scalesAsRow(p, v, tokens)
  const dShares = among(() => p.step('dequantise', [inner, dy.scales, columns], { hasColumns: 1, rowsEach }))
  const dScores = among(() => p.step('exponentialBackward', [weights, dShares, dot], { period: tokens }))
  const keyScales = p.step('scale', [k.scales], { factor: factorOf(shape) })
  const shared = (of: string) => p.step('divideRows', [of, total])
  const into = (left: string, right: Quantised, fold: string): string => {
    const folds = p.step('reshape', [fold], { width: tokens })
    return among(() => {
      const rounded = roundedByChance(p, rounding, left, folds, { rowsEach, piece: HEAD_PIECE })
      return p.step('productPieces', [rounded.q, rounded.scales, turn(right.q)], { batch, piece: HEAD_PIECE })
    })
  }
  return {
    q: join(shared(into(dScores, k, keyScales))),
    k: join(into(turn(dScores), q, shared(scales))),
    v: join(into(turn(weights), dy, shared(dy.scales))),
  }
}
