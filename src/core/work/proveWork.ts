import type { PatchEvidence } from './checkPatch.ts'
import type { SegmentEvidence } from './checkSegment.ts'
import type { PatchDraw } from './draws.ts'
import { drawOpened, drawProven, drawTraced, seedOfSegment } from './drawWork.ts'
import type { ProvableSteps, ProvenStep, ProvenWork } from './methods/step/provenWork.ts'
import { type SaidStep, saidHash } from './methods/step/rest.ts'
import { linksOf, type StateMark } from './stateChain.ts'
import {
  endsOf,
  openTrace,
  placeRoots,
  stepEnds,
  stepsRootOf,
  type TracedSegment,
  tracedSegment,
  traceRoot,
} from './trace.ts'
import type { Work } from './work.ts'

/** What whoever executed a work can show of it: a segment run again with trace, and patches of it. */
export interface Traceable {
  trace(segment: number): Promise<readonly Uint8Array[]> | readonly Uint8Array[]
  open(segment: number, draws: readonly PatchDraw[]): Promise<readonly PatchEvidence[]> | readonly PatchEvidence[]
  /** W12.5. Where segments are to be proven by sumcheck besides. */
  readonly steps?: ProvableSteps
}

export interface Committed {
  readonly firstRoot: Uint8Array
  readonly marks: readonly StateMark[]
}

/** W4.3. Both draws, one after the other: the second nonce is asked for once everything is said that it is bound to. */
export async function proveWork<K>(
  work: Work<K>,
  { firstRoot, marks }: Committed,
  run: Traceable,
  nonceOf: (draw: 0 | 1) => Promise<Uint8Array> | Uint8Array,
): Promise<{
  readonly nonces: readonly [Uint8Array, Uint8Array]
  readonly segments: ReadonlyMap<number, SegmentEvidence>
  readonly proven?: ProvenWork
}> {
  const lastLink = linksOf(work.workId, firstRoot, marks).at(-1)!
  const first = await nonceOf(0)
  const traced = drawTraced(work, lastLink, first).map((segment) =>
    tracedSegment(work, segment, endsOf(segment, firstRoot, marks)),
  )
  const shown: ShownTrace[] = []
  for (const one of traced) shown.push(showTrace(one, await run.trace(one.segment)))
  const said = new Map<number, SaidStep>()
  for (const segment of run.steps ? drawProven(work, lastLink, first) : [])
    said.set(segment, await run.steps!.say(segment))
  const second = await nonceOf(1)
  const traces = [
    ...traced.map((one, i) => traceRoot(one, shown[i]!.stepsRoot)),
    ...[...said].map(([segment, one]) => saidHash(one, stepEnds(segment, firstRoot, marks))),
  ]
  const draws = drawOpened(work, { lastLink, nonce: second, traced, traces })
  const segments = new Map<number, SegmentEvidence>()
  for (const [i, { segment }] of traced.entries()) {
    const drawn = draws.get(segment)!
    segments.set(segment, { ...shown[i]!.opened(drawn), patches: await run.open(segment, drawn) })
  }
  if (!run.steps) return { nonces: [first, second], segments }
  const proofs: [number, ProvenStep][] = []
  // Backwards: what was said last is still at hand.
  for (const [segment, one] of [...said].reverse()) {
    const nonce = seedOfSegment({ lastLink, nonce: second, traces }, segment)
    proofs.unshift([segment, { said: one, proof: await run.steps.prove(segment, nonce) }])
  }
  return { nonces: [first, second], segments, proven: { products: run.steps.products, steps: new Map(proofs) } }
}

interface ShownTrace {
  readonly stepsRoot: Uint8Array
  opened(draws: readonly PatchDraw[]): Pick<SegmentEvidence, 'stepsRoot' | 'trace'>
}

/** What a receipt shows of a trace once it is known what is drawn of it. */
export function showTrace(traced: TracedSegment, roots: readonly Uint8Array[]): ShownTrace {
  const placed = placeRoots(traced.plan, roots)
  if (!placed) throw new RangeError(`a trace of ${roots.length} roots, not ${traced.plan.said.length}`)
  const stepsRoot = stepsRootOf(traced.plan, placed)
  return { stepsRoot, opened: (draws) => ({ stepsRoot, trace: openTrace(traced, draws, placed) }) }
}
