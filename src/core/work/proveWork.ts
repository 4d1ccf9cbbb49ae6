import { type PatchEvidence, type SegmentEvidence, traceRoot } from './checkSegment.ts'
import type { PatchDraw } from './draws.ts'
import { drawOpened, drawTraced } from './drawWork.ts'
import { linksOf, type StateMark } from './stateChain.ts'
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
  const traced = drawTraced(work, lastLink, first)
  const roots: (readonly Uint8Array[])[] = []
  for (const segment of traced) roots.push(await run.trace(segment))
  const second = await nonceOf(1)
  const draws = drawOpened(work, { lastLink, nonce: second, traced, traces: roots.map(traceRoot) })
  const segments = new Map<number, SegmentEvidence>()
  for (const [i, segment] of traced.entries())
    segments.set(segment, { roots: roots[i]!, patches: await run.open(segment, draws.get(segment)!) })
  return { nonces: [first, second], segments }
}
