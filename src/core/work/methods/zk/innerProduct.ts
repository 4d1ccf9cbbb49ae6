import { concatBytes } from '../../../bytes/bytes.ts'
import { combine, dot, encodePoint, inverse, type Point, reduce } from './group.ts'
import type { Draws } from './transcript.ts'

/** Two vectors and the bases they are committed in, all of one length, a power of two. */
export interface Vectors {
  readonly l: readonly bigint[]
  readonly r: readonly bigint[]
  readonly left: readonly Point[]
  readonly right: readonly Point[]
}

export interface Folded {
  /** L and R of every round. */
  readonly rounds: readonly (readonly [Uint8Array, Uint8Array])[]
  readonly l: bigint
  readonly r: bigint
}

const foldNumbers = (v: readonly bigint[], y: bigint): readonly bigint[] => {
  const half = v.length / 2
  return v.slice(0, half).map((x, i) => reduce(x + y * v[i + half]!))
}
const foldPoints = (v: readonly Point[], y: bigint): readonly Point[] => {
  const half = v.length / 2
  return v.slice(0, half).map((point, i) => point.add(combine([v[i + half]!], [y])))
}

/** W10.5. Halves both vectors until one number of each is left. It hides nothing: they are masked already. */
export function foldVectors(start: Vectors, inner: Point, draws: Draws): Folded {
  let { l, r, left, right } = start
  const rounds: [Uint8Array, Uint8Array][] = []
  while (l.length > 1) {
    const half = l.length / 2
    const [l0, l1, r0, r1] = [l.slice(0, half), l.slice(half), r.slice(0, half), r.slice(half)]
    const up = combine([...left.slice(half), ...right.slice(0, half), inner], [...l0, ...r1, dot(l0, r1)])
    const down = combine([...left.slice(0, half), ...right.slice(half), inner], [...l1, ...r0, dot(l1, r0)])
    const said = [encodePoint(up), encodePoint(down)] as [Uint8Array, Uint8Array]
    rounds.push(said)
    draws.absorb(concatBytes(...said))
    const y = draws.draw(1)[0]!
    const back = inverse(y)
    ;[l, r] = [foldNumbers(l, back), foldNumbers(r, y)]
    // After the last round nobody asks for its bases.
    if (half > 1) [left, right] = [foldPoints(left, y), foldPoints(right, back)]
  }
  return { rounds, l: l[0]!, r: r[0]! }
}

/** W10.5.3. What each base counts after all rounds: the product of the draws of its bits that are 1, the first draw for the highest. */
export function foldedWeights(draws: readonly bigint[]): readonly bigint[] {
  let weights: readonly bigint[] = [1n]
  for (const y of draws) weights = weights.flatMap((weight) => [weight, reduce(weight * y)])
  return weights
}
