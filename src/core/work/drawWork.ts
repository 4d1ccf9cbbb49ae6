import { u32le } from '../bytes/bytes.ts'
import { drawPatches, drawSegments, INDEPENDENT_PATCHES, type PatchDraw, PROVEN_SEGMENTS } from './draws.ts'
import { drawBelow, drawSeed } from './stateChain.ts'
import type { TracedSegment } from './trace.ts'
import type { Work } from './work.ts'

/** W4.3, the first draw: which segments are run again with trace. Segment -1, the beginning, always is. */
export function drawTraced<K>(work: Work<K>, lastLink: Uint8Array, nonce: Uint8Array): readonly number[] {
  const seed = drawSeed(lastLink, nonce)
  const drawn = drawSegments(seed, work.ends.length, work.isIndependent ? INDEPENDENT_PATCHES : undefined)
  return work.isIndependent ? drawn : [-1, ...drawn]
}

/** W12.5.2. Which segments are proven by sumcheck besides, where a training is shown so: the first that are drawn. */
export const drawProven = <K>(work: Work<K>, lastLink: Uint8Array, nonce: Uint8Array): readonly number[] =>
  drawSegments(drawSeed(lastLink, nonce), work.ends.length, PROVEN_SEGMENTS)

/** W4.3.2. By its number: segments that are all the same would else be looked at in the same places (attack 223). */
export const seedOfSegment = ({ lastLink, nonce, traces }: Omit<SecondDraw, 'traced'>, segment: number): Uint8Array =>
  drawSeed(drawSeed(lastLink, nonce, ...traces), u32le(segment + 1))

/** The second draw, bound to the traces: which patches of each of them are opened. */
export function drawOpened<K>(
  work: Work<K>,
  { traced, ...draw }: SecondDraw,
): ReadonlyMap<number, readonly PatchDraw[]> {
  if (work.isIndependent) return drawAcross(work, traced, drawSeed(draw.lastLink, draw.nonce, ...draw.traces))
  const drawn = ({ segment, programs }: DrawnFrom) => drawPatches(work.ops, programs, seedOfSegment(draw, segment))
  return new Map(traced.map((one) => [one.segment, drawn(one)]))
}

type DrawnFrom = Pick<TracedSegment, 'segment' | 'programs'>

interface SecondDraw {
  readonly lastLink: Uint8Array
  readonly nonce: Uint8Array
  readonly traced: readonly DrawnFrom[]
  /** The root of each trace, in the order of the segments; then what else was said before the nonce came (W12.5.3). */
  readonly traces: readonly Uint8Array[]
}

/** As many patches in all, over all traced segments, each step as likely as its operations. */
function drawAcross<K>(
  { ops }: Work<K>,
  traced: readonly DrawnFrom[],
  seed: Uint8Array,
): ReadonlyMap<number, readonly PatchDraw[]> {
  const steps = traced.flatMap(({ programs }, at) =>
    programs.flatMap(({ steps, shaped }, transition) =>
      steps.map(({ op }, step) => {
        const weight = ops[op]!.operations(shaped[step]!)
        return { at, transition, step, weight, patches: ops[op]!.patches(shaped[step]!) }
      }),
    ),
  )
  const total = steps.reduce((sum, { weight }) => sum + weight, 0)
  const drawn = new Map<number, PatchDraw[]>(traced.map(({ segment }) => [segment, []]))
  for (let i = 0; i < INDEPENDENT_PATCHES; i++) {
    let rest = drawBelow(seed, 'step', i, total)
    const found = steps.find(({ weight }) => {
      rest -= weight
      return rest < 0
    })!
    const patch = drawBelow(seed, 'patch', i, found.patches)
    drawn.get(traced[found.at]!.segment)!.push({ transition: found.transition, step: found.step, patch })
  }
  return drawn
}
