import type { PatchEvidence } from './checkPatch.ts'
import type { SegmentEvidence } from './checkSegment.ts'
import type { PatchDraw } from './draws.ts'
import { drawOpened, drawTraced } from './drawWork.ts'
import { linksOf, type StateMark } from './stateChain.ts'
import { endsOf, openTrace, placeRoots, stepsRootOf, type TracedSegment, tracedSegment, traceRoot } from './trace.ts'
import type { Work } from './work.ts'

/** What whoever executed a work can show of it: a segment run again with trace, and patches of it. */
export interface Traceable {
  trace(segment: number): Promise<readonly Uint8Array[]> | readonly Uint8Array[]
  open(segment: number, draws: readonly PatchDraw[]): Promise<readonly PatchEvidence[]> | readonly PatchEvidence[]
}

export interface Committed {
  readonly firstRoot: Uint8Array
  readonly marks: readonly StateMark[]
}

/** W4.3. Both draws, one after the other: the second nonce is asked for once the traces are made. */
export async function proveWork<K>(
  work: Work<K>,
  { firstRoot, marks }: Committed,
  run: Traceable,
  nonceOf: (draw: 0 | 1) => Promise<Uint8Array> | Uint8Array,
): Promise<{
  readonly nonces: readonly [Uint8Array, Uint8Array]
  readonly segments: ReadonlyMap<number, SegmentEvidence>
}> {
  const lastLink = linksOf(work.workId, firstRoot, marks).at(-1)!
  const first = await nonceOf(0)
  const traced = drawTraced(work, lastLink, first).map((segment) =>
    tracedSegment(work, segment, endsOf(segment, firstRoot, marks)),
  )
  const shown: ShownTrace[] = []
  for (const one of traced) shown.push(showTrace(one, await run.trace(one.segment)))
  const second = await nonceOf(1)
  const traces = traced.map((one, i) => traceRoot(one, shown[i]!.stepsRoot))
  const draws = drawOpened(work, { lastLink, nonce: second, traced, traces })
  const segments = new Map<number, SegmentEvidence>()
  for (const [i, { segment }] of traced.entries()) {
    const drawn = draws.get(segment)!
    segments.set(segment, { ...shown[i]!.opened(drawn), patches: await run.open(segment, drawn) })
  }
  return { nonces: [first, second], segments }
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
