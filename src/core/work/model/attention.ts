import { bitsOf } from '../ops/shapes.ts'
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

/** What the way back needs of the way there. */
export interface Attended {
  /** Tokens by heads side by side. */
  readonly out: string
  readonly q: Quantised
  readonly k: Quantised
  readonly v: Quantised
  readonly p: string
}

const split = (p: ProgramBuilder, { tokens, size }: Heads, heads: number, x: string): string =>
  p.step('splitHeads', [x], { tokens, heads, size })

/** One token and one head to a row. */
function headRows(p: ProgramBuilder, shape: Heads, heads: number, x: string): Quantised {
  return quantised(p, split(p, shape, heads, x), shape.sequences * heads * shape.tokens, shape.size)
}

/** W2.8. Every query sees the keys up to its own; softmax over the whole row, then the values. */
export function attend(p: ProgramBuilder, shape: Heads, { q, k, v }: Record<'q' | 'k' | 'v', string>): Attended {
  const { sequences, tokens, heads, keyHeads, size } = shape
  const rows = {
    q: headRows(p, shape, heads, q),
    k: headRows(p, shape, keyHeads, k),
    v: headRows(p, shape, keyHeads, v),
  }
  const shared = heads / keyHeads
  const batch = { batch: sequences * heads, shared }
  // Keys and values of one head serve all tokens of the heads that share it.
  const rowsEach = tokens * shared
  const sums = p.step('product', [rows.q.q, rows.k.q], { ...batch, mask: MASK.result })
  const columns = scalesAsRow(p, rows.k, tokens)
  const factor = bitsOf(1 / Math.sqrt(size))
  const scores = p.step('dequantise', [sums, rows.q.scales, columns], { hasColumns: 1, rowsEach, factor })
  const fold = () => scalesAsRow(p, rows.v, tokens)
  const shares = softmaxRows(p, scores, fold, rowsEach, { period: tokens })
  const values = p.step('transpose', [rows.v.q], { batch: sequences * keyHeads })
  const sum = p.step('product', [shares.q, values], { ...batch, mask: MASK.operand })
  const out = p.step('dequantise', [sum, shares.scales])
  return { out: p.step('joinHeads', [out], { tokens, heads, size }), ...rows, p: shares.p }
}

/** Softmax of scores, and its rows as int8 with the scales of the values folded in: one vector for `rowsEach` rows. */
export function softmaxRows(
  p: ProgramBuilder,
  scores: string,
  scalesOfValues: () => string,
  rowsEach: number,
  seen: { readonly period?: number } = {},
): { readonly p: string; readonly q: string; readonly scales: string } {
  const maximum = p.step('rowMaximum', [scores], seen)
  const total = p.step('exponentialSum', [scores, maximum], seen)
  const shares = p.step('softmax', [scores, maximum, total], seen)
  const fold = scalesOfValues()
  const scales = p.step('rowScale', [shares, fold], { rowsEach })
  return { p: shares, q: p.step('quantise', [shares, scales, fold], { rowsEach }), scales }
}

/** Gradients of q, k and v, tokens by heads. Every head has keys of its own here. */
export function attendBackward(
  p: ProgramBuilder,
  rounding: Rounding,
  shape: Heads,
  { q, k, v, p: shares }: Attended,
  dOut: string,
): Record<'q' | 'k' | 'v', string> {
  const { sequences, tokens, heads, size } = shape
  const batch = sequences * heads
  const rowsEach = tokens
  const join = (x: string) => p.step('joinHeads', [x], { tokens, heads, size })
  const turn = (x: string) => p.step('transpose', [x], { batch })
  const dy = { ...roundedByChance(p, rounding, split(p, shape, heads, dOut), null), rows: q.rows, width: size }
  const inner = p.step('product', [dy.q, v.q], { batch, mask: MASK.result })
  const dShares = p.step('dequantise', [inner, dy.scales, scalesAsRow(p, v, tokens)], { hasColumns: 1, rowsEach })
  const factor = bitsOf(1 / Math.sqrt(size))
  const dScores = p.step('softmaxBackward', [shares, dShares], { period: tokens, factor })
  /** What is folded in belongs to the rows that are summed over. */
  const into = (left: string, right: Quantised, mask: number): string => {
    const rounded = roundedByChance(p, rounding, left, scalesAsRow(p, right, tokens), { rowsEach })
    const sums = p.step('product', [rounded.q, turn(right.q)], { batch, mask })
    return join(p.step('dequantise', [sums, rounded.scales]))
  }
  return {
    q: into(dScores, k, MASK.operand),
    k: into(turn(dScores), q, MASK.none),
    v: into(turn(shares), dy, MASK.none),
  }
}
