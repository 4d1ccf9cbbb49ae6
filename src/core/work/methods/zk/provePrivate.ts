import { combine, dot, encodePoint, encodeScalar, reduce, wideScalar } from './group.ts'
import { foldVectors } from './innerProduct.ts'
import { encodeProof, type PrivateProof } from './proof.ts'
import { type Bases, columnSums, commit, leftBases, type PrivateProduct, type Sizes } from './statement.ts'
import type { Draws } from './transcript.ts'

/** Bytes that nobody can foresee. */
export type Chance = (bytes: number) => Uint8Array

/** What the prover alone knows; where B or C is in the open, its numbers are 0. */
export interface Secrets {
  /** By its rows. */
  readonly a: readonly bigint[]
  readonly blindA: readonly bigint[]
  /** By its columns. */
  readonly b: readonly bigint[]
  readonly blindB: readonly bigint[]
  readonly blindC: readonly bigint[]
}

/** What hides a proof. Used twice, it shows the secrets. */
export interface Masks {
  readonly left: readonly bigint[]
  readonly right: readonly bigint[]
  readonly vectors: bigint
  readonly first: bigint
  readonly second: bigint
}

const WIDE = 64
export const drawScalars = (chance: Chance, count: number): readonly bigint[] =>
  Array.from({ length: count }, () => wideScalar(chance(WIDE)))

export function drawMasks(chance: Chance, inner: number): Masks {
  const [vectors, first, second] = drawScalars(chance, 3) as [bigint, bigint, bigint]
  return { left: drawScalars(chance, inner), right: drawScalars(chance, inner), vectors, first, second }
}

/** W10.2.2. A commitment to each row of A. */
export function commitRows(
  { rows, inner }: Pick<Sizes, 'rows' | 'inner'>,
  a: readonly bigint[],
  blinds: readonly bigint[],
): readonly Uint8Array[] {
  const { left, blind } = leftBases(inner)
  return Array.from({ length: rows }, (_, i) =>
    encodePoint(commit(left, blind, a.slice(i * inner, (i + 1) * inner), blinds[i]!)),
  )
}

/** The same for B, a column each. */
export function commitColumns(
  { left: _, right, blind }: Bases,
  { inner, columns }: Pick<Sizes, 'inner' | 'columns'>,
  b: readonly bigint[],
  blinds: readonly bigint[],
): readonly Uint8Array[] {
  return Array.from({ length: columns }, (_, j) =>
    encodePoint(commit(right, blind, b.slice(j * inner, (j + 1) * inner), blinds[j]!)),
  )
}

/** The same for C, an entry each. */
export const commitEntries = (
  { value, blind }: Bases,
  c: readonly bigint[],
  blinds: readonly bigint[],
): readonly Uint8Array[] => c.map((entry, i) => encodePoint(commit([value], blind, [entry], blinds[i]!)))

/** W10.4. The proof that what was committed to as C is the product, which shows nothing else. */
export function provePrivate(
  { rows, inner, columns }: PrivateProduct,
  bases: Bases,
  secrets: Secrets,
  masks: Masks,
  draws: Draws,
): Uint8Array {
  const points = draws.draw(rows + columns)
  const [r, s] = [points.slice(0, rows), points.slice(rows)]
  const l0 = columnSums(secrets.a, inner, rows, r)
  const r0 = columnSums(secrets.b, inner, columns, s)
  const weights = r.flatMap((x) => s.map((y) => x * y))
  const blindVectors = dot([...r, ...s], [...secrets.blindA, ...secrets.blindB])
  const { left, right, blind, value } = bases
  const mask = combine([...left, ...right, blind], [...masks.left, ...masks.right, masks.vectors])
  const t1 = reduce(dot(l0, masks.right) + dot(masks.left, r0))
  const t2 = dot(masks.left, masks.right)
  const commitments = {
    mask: encodePoint(mask),
    first: encodePoint(commit([value], blind, [t1], masks.first)),
    second: encodePoint(commit([value], blind, [t2], masks.second)),
  }
  draws.absorb(commitments.mask, commitments.first, commitments.second)
  const x = draws.draw(1)[0]!
  const l = l0.map((entry, i) => reduce(entry + x * masks.left[i]!))
  const rr = r0.map((entry, i) => reduce(entry + x * masks.right[i]!))
  const scalars: Pick<PrivateProof, 'total' | 'blindTotal' | 'blindVectors'> = {
    total: dot(l, rr),
    blindTotal: reduce(dot(weights, secrets.blindC) + x * (masks.first + x * masks.second)),
    blindVectors: reduce(blindVectors + x * masks.vectors),
  }
  draws.absorb(...[scalars.total, scalars.blindTotal, scalars.blindVectors].map(encodeScalar))
  const bound = combine([bases.inner], draws.draw(1))
  return encodeProof({ ...commitments, ...scalars, ...foldVectors({ l, r: rr, left, right }, bound, draws) })
}
