import { QUAD_BYTES } from '../../stepKernels.ts'
import { coordinatesOf } from '../sumcheck/evaluate.ts'
import { encodeQuads, minus, ONE, plus, powersOf, type Quad, times, ZERO } from './field31.ts'
import { coordinatesOfPlan, type ProductsPlan } from './plan.ts'
import { askedOperands, claimsOf, drawOuter } from './products.ts'
import type { Claim } from './stepLayout.ts'
import type { StepMatrix } from './stepMatrix.ts'
import type { StepRooms } from './stepRooms.ts'
import type { StepTranscript } from './stepTranscript.ts'

/** What commits to the kept tensors meets them with the weights of a point: numbers that lie in new rooms. */
type Combines = Pick<StepMatrix, 'rowsCombined' | 'columnsCombined'>

/** A vector over the inner index, in the memory of the kernels. */
interface Vector {
  readonly at: number
  readonly coordinates: number
}

/** A product in the rounds: its two vectors, its sum, and what it counts. */
interface Summed {
  readonly a: Vector
  readonly b: Vector
  readonly sum: Quad
  /** The power of gamma, times the weight of what it does not reach. */
  scale: Quad
}

/** W12.2.5. What is said about the products, and the claims that it leaves. */
export function proveProducts(
  rooms: StepRooms,
  plan: ProductsPlan,
  matrix: Combines,
  transcript: StepTranscript,
): { readonly said: Uint8Array; readonly claims: readonly Claim[] } {
  const { asked, ofProduct } = askedOperands(plan)
  const outer = drawOuter(plan, transcript)
  const vectors = asked.map((of): Vector => {
    const { name, shape } = plan.kept[of.kept]!
    const take = (point: 'r' | 's', size: number) => outer[point].slice(0, coordinatesOf(size))
    return of.row === 'z'
      ? { at: matrix.columnsCombined(name, take(of.column, shape.width)), coordinates: coordinatesOf(shape.rows) }
      : { at: matrix.rowsCombined(name, take(of.row, shape.rows)), coordinates: coordinatesOf(shape.width) }
  })
  const out = rooms.room(QUAD_BYTES)
  const sums = ofProduct.map(({ a, b }) => {
    rooms.kernels.stepDot(vectors[a]!.at, vectors[b]!.at, out, 2 ** vectors[a]!.coordinates)
    return rooms.read(out, 1)[0]!
  })
  transcript.absorb(sums)
  const powers = powersOf(transcript.draw(1)[0]!, sums.length)
  const summed = ofProduct.map(
    ({ a, b }, p): Summed => ({ a: vectors[a]!, b: vectors[b]!, sum: sums[p]!, scale: powers[p]! }),
  )
  const { said, z } = sayRounds(rooms, summed, vectors, coordinatesOfPlan(plan).z, transcript)
  const last = vectors.map(({ at }) => rooms.read(at, 1)[0]!)
  return { said: encodeQuads([...sums, ...said, ...last]), claims: claimsOf(plan, { ...outer, z }, sums, last) }
}

/** W12.2.5. One round for each coordinate of the longest product, the highest first; vectors are folded where they lie. */
function sayRounds(
  rooms: StepRooms,
  products: readonly Summed[],
  vectors: readonly Vector[],
  rounds: number,
  transcript: StepTranscript,
): { readonly said: readonly Quad[]; readonly z: readonly Quad[] } {
  const said: Quad[] = []
  const z: Quad[] = []
  for (let bit = rounds - 1; bit >= 0; bit--) {
    const round = roundOf(rooms, products, bit)
    said.push(...round)
    transcript.absorb(round)
    const t = transcript.draw(1)[0]!
    z.unshift(t)
    rooms.during(() => {
      const by = rooms.put([t])
      for (const { at, coordinates } of vectors) if (bit < coordinates) rooms.kernels.stepFold(at, by, 2 ** bit)
    })
    for (const of of products) if (bit >= of.a.coordinates) of.scale = times(of.scale, minus(ONE, t))
  }
  return { said, z }
}

/** The first and the last coefficient over all products; a shorter one counts at 0 alone where it does not reach. */
function roundOf(rooms: StepRooms, products: readonly Summed[], bit: number): readonly [Quad, Quad] {
  return rooms.during(() => {
    const out = rooms.room(2 * QUAD_BYTES)
    let [first, last] = [ZERO, ZERO]
    for (const { a, b, sum, scale } of products) {
      if (bit >= a.coordinates) {
        first = plus(first, times(scale, sum))
        continue
      }
      rooms.kernels.stepRound(a.at, b.at, out, 2 ** bit)
      const [own, square] = rooms.read(out, 2)
      first = plus(first, times(scale, own!))
      last = plus(last, times(scale, square!))
    }
    return [first, last]
  })
}
