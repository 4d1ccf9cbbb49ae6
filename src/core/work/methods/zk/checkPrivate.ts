import { combine, decodePoint, encodeScalar, inverse, type Point, reduce } from './group.ts'
import { foldedWeights } from './innerProduct.ts'
import { decodeProof } from './proof.ts'
import { type Bases, drawn, isWellFormed, type PrivateProduct } from './statement.ts'
import type { Draws } from './transcript.ts'

/** Why a proof about hidden matrices is not believed. */
export type PrivateProblem =
  /** Sizes that do not fit, or a commitment that is no point. */
  | 'BAD_STATEMENT'
  /** Of another size, or something in it is not in its one spelling. */
  | 'BAD_PROOF'
  /** The sum that was claimed is not C's. */
  | 'WRONG_RESULT'
  /** The vectors are not those that were committed to, or their sum is another. */
  | 'WRONG_VECTORS'

/** W10.6. Null where C is the product of what was committed to. */
export function checkPrivate(
  product: PrivateProduct,
  bases: Bases,
  bytes: Uint8Array,
  draws: Draws,
): PrivateProblem | null {
  if (!isWellFormed(product)) return 'BAD_STATEMENT'
  const proof = decodeProof(bytes, product.inner)
  const said = proof && [proof.mask, proof.first, proof.second, ...proof.rounds.flat()].map(decodePoint)
  if (!said || said.includes(null)) return 'BAD_PROOF'
  const [mask, first, second, ...rounds] = said as Point[]
  const points = draws.draw(product.rows + product.columns)
  const found = drawn(product, bases, points.slice(0, product.rows), points.slice(product.rows))
  if (!found) return 'BAD_STATEMENT'
  draws.absorb(proof.mask, proof.first, proof.second)
  const x = draws.draw(1)[0]!
  const { total, blindTotal, blindVectors, l, r } = proof
  draws.absorb(...[total, blindTotal, blindVectors].map(encodeScalar))
  const w = draws.draw(1)[0]!
  const ys = proof.rounds.map((round) => {
    draws.absorb(...round)
    return draws.draw(1)[0]!
  })
  if ([x, w, ...ys].includes(0n)) return 'BAD_PROOF'
  const value = combine([bases.value, bases.blind, first!, second!], [total, blindTotal, -x, -x * x])
  if (!value.equals(found.value)) return 'WRONG_RESULT'
  const back = ys.map(inverse)
  const left = combine(
    [found.vectors, mask!, bases.blind, bases.inner, ...rounds],
    [1n, x, -blindVectors, w * reduce(total - l * r), ...ys.flatMap((y, i) => [y, back[i]!])],
  )
  const right = combine(
    [...bases.left, ...bases.right],
    [...foldedWeights(ys).map((weight) => weight * l), ...foldedWeights(back).map((weight) => weight * r)],
  )
  return left.equals(right) ? null : 'WRONG_VECTORS'
}
