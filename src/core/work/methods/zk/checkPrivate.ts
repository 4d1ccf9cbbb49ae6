import { combine, decodePoints, encodeScalar, inverse, type Point, reduce } from './group.ts'
import { foldedWeights } from './innerProduct.ts'
import { decodeProof, type PrivateProof } from './proof.ts'
import { type Bases, type Drawn, drawn, isWellFormed, type PrivateProduct, type Terms } from './statement.ts'
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

/** W10.6. Null where C is the product of what was committed to. What costs little is looked at first. */
export function checkPrivate(
  product: PrivateProduct,
  bases: Bases,
  bytes: Uint8Array,
  draws: Draws,
): PrivateProblem | null {
  if (!isWellFormed(product)) return 'BAD_STATEMENT'
  const proof = decodeProof(bytes, product.inner)
  const said = proof && decodePoints([proof.mask, proof.first, proof.second, ...proof.rounds.flat()])
  if (!said) return 'BAD_PROOF'
  const points = draws.draw(product.rows + product.columns)
  const found = drawn(product, points.slice(0, product.rows), points.slice(product.rows))
  if (!found) return 'BAD_STATEMENT'
  draws.absorb(proof.mask, proof.first, proof.second)
  const x = draws.draw(1)[0]!
  draws.absorb(...[proof.total, proof.blindTotal, proof.blindVectors].map(encodeScalar))
  const w = draws.draw(1)[0]!
  const ys = proof.rounds.map((round) => {
    draws.absorb(...round)
    return draws.draw(1)[0]!
  })
  if ([x, w, ...ys].includes(0n)) return 'BAD_PROOF'
  if (!isNothing(...valueTerms(bases, proof, found, said, x))) return 'WRONG_RESULT'
  return isNothing(...vectorTerms(bases, proof, found, said, { x, w, ys })) ? null : 'WRONG_VECTORS'
}

/** One sum over all points: they share what a sum costs by itself. */
const isNothing = (...terms: readonly Terms[]): boolean =>
  combine(
    terms.flatMap(({ points }) => points),
    terms.flatMap(({ scalars }) => scalars),
  ).is0()

const opposite = ({ points, scalars }: Terms): Terms => ({ points, scalars: scalars.map((scalar) => -scalar) })

/** W10.6.2. The sum that was claimed, less that of C. */
function valueTerms(
  { value, blind }: Bases,
  { total, blindTotal }: PrivateProof,
  found: Drawn,
  [, first, second]: readonly Point[],
  x: bigint,
): readonly Terms[] {
  const own = 'open' in found.value ? found.value.open : 0n
  const hidden = 'hidden' in found.value ? [opposite(found.value.hidden)] : []
  return [{ points: [value, blind, first!, second!], scalars: [total - own, blindTotal, -x, -x * x] }, ...hidden]
}

/** W10.6.3. What was committed to, masked and folded, less the two numbers that are left of it. */
function vectorTerms(
  bases: Bases,
  { total, blindVectors, l, r }: PrivateProof,
  { rows, columns }: Drawn,
  [mask, , , ...rounds]: readonly Point[],
  { x, w, ys }: { readonly x: bigint; readonly w: bigint; readonly ys: readonly bigint[] },
): readonly Terms[] {
  const back = ys.map(inverse)
  const open = 'open' in columns ? columns.open : null
  const scalars = [x, -blindVectors, w * reduce(total - l * r), ...ys.flatMap((y, i) => [y, back[i]!])]
  return [
    rows,
    ...('hidden' in columns ? [columns.hidden] : []),
    { points: [mask!, bases.blind, bases.inner, ...rounds], scalars },
    { points: bases.left, scalars: foldedWeights(ys).map((weight) => -weight * l) },
    { points: bases.right, scalars: foldedWeights(back).map((weight, i) => (open?.[i] ?? 0n) - weight * r) },
  ]
}
