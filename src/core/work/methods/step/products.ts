import { QUAD_BYTES } from '../../stepKernels.ts'
import { coordinatesOf } from '../sumcheck/evaluate.ts'
import { decodeQuads, isSame, minus, NUMBER_CHANCE, ONE, plus, powersOf, type Quad, times, ZERO } from './field31.ts'
import { coordinatesOfPlan, type Operand, type PlannedProduct, type ProductsPlan } from './plan.ts'
import type { Claim } from './stepLayout.ts'
import type { StepTranscript } from './stepTranscript.ts'

/** Points that are drawn: r for rows of C, s for its columns, z for what is summed over. */
type PointName = 'r' | 's' | 'z'

/** Where a kept tensor is asked, by the names of the points of its rows and columns. */
type Asked = { readonly kept: number } & (
  | { readonly row: 'z'; readonly column: 'r' | 's' }
  | { readonly row: 'r' | 's'; readonly column: 'z' }
)

/** The values that are asked of operands, each once, and which of them every product takes. */
export interface AskedOperands {
  readonly asked: readonly Asked[]
  readonly ofProduct: readonly { readonly a: number; readonly b: number }[]
}

export type ProductsProblem =
  /** Of another size, or a number in it is not in its one spelling. */
  | 'BAD_PROOF'
  /** The rounds do not lead to the products of the last values. */
  | 'WRONG_ROUNDS'

/** W12.2.6. Operands that several products share at the same point are asked once. */
export function askedOperands({ products }: ProductsPlan): AskedOperands {
  const asked: Asked[] = []
  const places = new Map<string, number>()
  const place = ({ kept, isTurned }: Operand, outer: 'r' | 's'): number => {
    const of: Asked = isTurned ? { kept, row: 'z', column: outer } : { kept, row: outer, column: 'z' }
    const key = `${kept} ${of.row} ${of.column}`
    if (!places.has(key)) places.set(key, asked.push(of) - 1)
    return places.get(key)!
  }
  const ofProduct = products.map(({ a, b }) => ({ a: place(a, 'r'), b: place(b, 's') }))
  return { asked, ofProduct }
}

/** What is drawn for rows and columns of C, as many coordinates as the largest has. */
export interface Outer {
  readonly r: readonly Quad[]
  readonly s: readonly Quad[]
}

/** W12.2.5. r and s, before anything is said. */
export function drawOuter(plan: ProductsPlan, transcript: StepTranscript): Outer {
  const { r, s } = coordinatesOfPlan(plan)
  const drawn = transcript.draw(r + s)
  return { r: drawn.slice(0, r), s: drawn.slice(r) }
}

/** The weight of index 0 in the coordinates that a product does not reach. */
function beforeReach({ inner }: PlannedProduct, z: readonly Quad[]): Quad {
  return z.slice(coordinatesOf(inner)).reduce((left, coordinate) => times(left, minus(ONE, coordinate)), ONE)
}

/** W12.2.6. What the rounds must lead to, from the last values. */
function endOf(
  plan: ProductsPlan,
  { ofProduct }: AskedOperands,
  powers: readonly Quad[],
  z: readonly Quad[],
  last: readonly Quad[],
) {
  return plan.products.reduce((sum, product, p) => {
    const { a, b } = ofProduct[p]!
    const term = times(beforeReach(product, z), times(last[a]!, last[b]!))
    return plus(sum, times(powers[p]!, term))
  }, ZERO)
}

/** W12.2.9. Every value that was said, as a claim about a kept tensor. */
export function claimsOf(
  plan: ProductsPlan,
  points: Readonly<Record<PointName, readonly Quad[]>>,
  results: readonly Quad[],
  last: readonly Quad[],
): readonly Claim[] {
  const claim = (kept: number, row: PointName, column: PointName, value: Quad): Claim => {
    const { name, shape } = plan.kept[kept]!
    const take = (point: PointName, size: number) => points[point].slice(0, coordinatesOf(size))
    return { name, row: take(row, shape.rows), column: take(column, shape.width), value }
  }
  return [
    ...plan.products.map(({ c }, p) => claim(c, 'r', 's', results[p]!)),
    ...askedOperands(plan).asked.map(({ kept, row, column }, i) => claim(kept, row, column, last[i]!)),
  ]
}

/** W12.2.6. What is left after a round: its polynomial at t, from its first and last coefficient and its sum at 0 and 1. */
export function roundAt(left: Quad, first: Quad, square: Quad, t: Quad): Quad {
  const middle = minus(minus(left, plus(first, first)), square)
  return plus(first, times(t, plus(middle, times(t, square))))
}

/** Bytes of what is said about the products, before the opening. */
export const saidBytes = (plan: ProductsPlan): number =>
  QUAD_BYTES * (plan.products.length + 2 * coordinatesOfPlan(plan).z + askedOperands(plan).asked.length)

/** W12.2.8. The rounds alone: what is left are claims about what was committed to. */
export function reduceProducts(
  plan: ProductsPlan,
  transcript: StepTranscript,
  bytes: Uint8Array,
): readonly Claim[] | ProductsProblem {
  const operands = askedOperands(plan)
  const said = decodeQuads(bytes, saidBytes(plan) / QUAD_BYTES)
  if (!said) return 'BAD_PROOF'
  const rounds = coordinatesOfPlan(plan).z
  const results = said.slice(0, plan.products.length)
  const last = said.slice(plan.products.length + 2 * rounds)
  const outer = drawOuter(plan, transcript)
  transcript.absorb(results)
  const powers = powersOf(transcript.draw(1)[0]!, results.length)
  let left = results.reduce((sum, value, p) => plus(sum, times(powers[p]!, value)), ZERO)
  const z: Quad[] = []
  for (let round = 0; round < rounds; round++) {
    const at = plan.products.length + 2 * round
    const [first, square] = [said[at]!, said[at + 1]!]
    transcript.absorb([first, square])
    const t = transcript.draw(1)[0]!
    left = roundAt(left, first, square, t)
    z.unshift(t)
  }
  if (!isSame(left, endOf(plan, operands, powers, z, last))) return 'WRONG_ROUNDS'
  return claimsOf(plan, { ...outer, z }, results, last)
}

/** W12.2.8. log2 of the chance that a wrong product passes the rounds, for one try, if all claims are right. */
export function productsError(plan: ProductsPlan): number {
  const { z } = coordinatesOfPlan(plan)
  const outer = plan.products.map(({ rows, columns }) => coordinatesOf(rows) + coordinatesOf(columns))
  return Math.log2(Math.max(...outer) + plan.products.length - 1 + 2 * z) + Math.log2(NUMBER_CHANCE)
}
