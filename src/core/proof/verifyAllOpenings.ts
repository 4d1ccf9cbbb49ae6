import { openingRanges } from './openingRanges.ts'
import type { RejectReason } from './reasons.ts'
import type { TileEngine } from './tileEngine.ts'
import { type Run, verifyOpenings } from './verifyPart.ts'

/** The first reason against any opening of a run, in one thread: for a page, and wherever nobody waits. */
export function verifyAllOpenings(run: Run, engine: TileEngine): RejectReason | null {
  for (const range of openingRanges(run)) {
    const reason = verifyOpenings(run, range, engine)
    if (reason) return reason
  }
  return null
}
