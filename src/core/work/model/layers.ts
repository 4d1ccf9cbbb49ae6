import { bitsOf } from '../ops/shapes.ts'
import type { ProgramBuilder } from '../programBuilder.ts'

/** W2.3. Tokens of a gradient of weights are rounded in pieces of so many. */
export const TOKENS_PIECE = 8192

/** Chance for what is rounded by it: words 0 and 1 of the seed, and the transition. */
export interface Rounding {
  readonly key0: number
  readonly key1: number
  readonly transition: number
}

/** A tensor as int8 rows, and a scale for each of them. */
export interface Quantised {
  readonly q: string
  readonly scales: string
  readonly rows: number
  readonly width: number
}

/** W2.3. Quantised once, along its rows. */
export function quantised(p: ProgramBuilder, x: string, rows: number, width: number): Quantised {
  const scales = p.step('rowScale', [x])
  return { q: p.step('quantise', [x, scales]), scales, rows, width }
}

/** Scales of rows as a row of scales: of columns, or to be folded in; `width` to a row. */
export const scalesAsRow = (p: ProgramBuilder, { scales, rows }: Quantised, width = rows): string =>
  p.step('reshape', [scales], { width })

export interface LinearWeights {
  readonly weight: Quantised
  readonly bias: string | null
}

export interface LinearOptions {
  readonly isChoke?: boolean
}

/** y = x W^T + b: scales stay outside of the sums. */
export function linear(
  p: ProgramBuilder,
  x: Quantised,
  { weight, bias }: LinearWeights,
  { isChoke = false }: LinearOptions = {},
): string {
  const sums = p.step('product', [x.q, weight.q], {}, { isChoke })
  const columns = scalesAsRow(p, weight)
  const inputs = [sums, x.scales, columns, ...(bias ? [bias] : [])]
  return p.step('dequantise', inputs, { hasColumns: 1, ...(bias ? { hasBias: 1 } : {}) })
}

export interface LinearGradients {
  /** Of x; null where nobody asks. */
  readonly x: string | null
  readonly weight: string
  readonly bias: string | null
}

/** What is rounded by chance: x times a folded vector, along its rows. */
export function roundedByChance(
  p: ProgramBuilder,
  rounding: Rounding,
  x: string,
  fold: string | null,
  numbers: { readonly rowsEach?: number; readonly piece?: number } = {},
): { readonly q: string; readonly scales: string } {
  const folds = fold ? [fold] : []
  const scales = p.step('rowScale', [x, ...folds], numbers)
  const draw = { key0: rounding.key0, key1: rounding.key1, transition: rounding.transition, tensor: p.nextTensor() }
  return { q: p.step('quantise', [x, scales, ...folds], { ...numbers, ...draw }), scales }
}

export interface LinearBackward {
  readonly x: Quantised
  /** The bytes of x, turned: several matrices may share it. */
  readonly turnedX: string
  readonly weights: LinearWeights
  readonly dy: string
}

/** dx = q(dy s_W) W and dW = q((dy s_x)^T) x: the scales of what is summed over go into the other operand first. */
export function linearBackward(
  p: ProgramBuilder,
  rounding: Rounding,
  { x, turnedX, weights: { weight, bias }, dy }: LinearBackward,
  { wantsX = true, isChoke = false } = {},
): LinearGradients {
  const turned = p.step('transpose', [dy])
  const pieces = { piece: TOKENS_PIECE }
  const byChannel = roundedByChance(p, rounding, turned, scalesAsRow(p, x), pieces)
  const inputs = [byChannel.q, byChannel.scales, turnedX]
  return {
    x: wantsX ? gradientOfInput(p, rounding, weight, dy, isChoke) : null,
    weight: p.step('productPieces', inputs, pieces, { isChoke }),
    bias: bias ? asRow(p, p.step('rowSum', [turned]), weight.rows) : null,
  }
}

function gradientOfInput(
  p: ProgramBuilder,
  rounding: Rounding,
  weight: Quantised,
  dy: string,
  isChoke: boolean,
): string {
  const rounded = roundedByChance(p, rounding, dy, scalesAsRow(p, weight))
  const sums = p.step('product', [rounded.q, p.step('transpose', [weight.q])], {}, { isChoke })
  return p.step('dequantise', [sums, rounded.scales])
}

/** A column of numbers as one row. */
export const asRow = (p: ProgramBuilder, column: string, width: number): string =>
  p.step('reshape', [column], { width })

export interface Norm {
  readonly gain: string
  /** Null of a root mean square norm. */
  readonly shift: string | null
  readonly epsilon: number
}

export interface Normed {
  readonly y: string
  readonly x: string
  readonly inverse: string
  readonly mean: string | null
}

export function norm(p: ProgramBuilder, x: string, { gain, shift, epsilon }: Norm, { isChoke = false } = {}): Normed {
  const mean = shift === null ? null : p.step('rowMean', [x])
  const means = mean === null ? [] : [mean]
  const inverse = p.step('normInverse', [x, ...means], { epsilon: bitsOf(epsilon) })
  const centred = { centred: shift === null ? 0 : 1 }
  const more = mean !== null && shift !== null ? [mean, shift] : []
  const y = p.step('norm', [x, inverse, gain, ...more], centred, { isChoke })
  return { y, x, inverse, mean }
}

export function normBackward(
  p: ProgramBuilder,
  { x, inverse, mean }: Normed,
  { gain, shift }: Norm,
  dy: string,
  width: number,
): { readonly x: string; readonly gain: string; readonly shift: string | null } {
  const centred = { centred: mean === null ? 0 : 1 }
  const means = mean === null ? [] : [mean]
  const terms = p.step('normGainTerms', [x, inverse, dy, ...means], centred)
  const summed = (of: string) => asRow(p, p.step('rowSum', [p.step('transpose', [of])]), width)
  return {
    x: p.step('normBackward', [x, inverse, gain, dy, ...means], centred),
    gain: summed(terms),
    shift: shift === null ? null : summed(dy),
  }
}
