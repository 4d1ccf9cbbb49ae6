import { openingRanges } from './openingRanges.ts'
import type { RejectReason } from './reasons.ts'
import type { TileEngine } from './tileEngine.ts'
import { type Run, rangeVerifier } from './verifyPart.ts'

/** The first reason against any opening of a run, in one thread: for a page, and wherever nobody waits. */
export function verifyAllOpenings(run: Run, engine: TileEngine): RejectReason | null {
  const verify = rangeVerifier(run, engine)
  for (const range of openingRanges(run)) {
    const reason = verify(range)
    if (reason) return reason
  }
  return null
}
