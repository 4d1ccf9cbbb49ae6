import { shardsIn } from '../../core/work/shards.ts'
import { keptEvery } from './serveWork.ts'
import type { Watch } from './workListener.ts'

/** What does not depend on the work may take so long. */
export const HANDSHAKE_MS = 60_000
/** A trace runs every step of a segment unfused, and hashes what each wrote. */
const UNFUSED = 20
/** On the way back to a segment nothing is hashed, but nothing runs ahead either, and a box may have other things to do. */
const AGAIN = 4

export interface Patience {
  /** For an answer about a segment, which is run again from the state before: that is at hand since it was traced. */
  readonly answerMs: number
  /** For the first one, which may have to get there from a state far before (attack 510). */
  readonly traceMs: number
}

/** W4.6.6. By the time that all segments took. Of devices that worked as one, the first answers alone. */
export function patienceWith({ work, segmentMs }: Pick<Watch, 'work' | 'segmentMs'>, elapsedUs: number): Patience {
  const shards = work.isIndependent ? 1 : Math.max(1, shardsIn(work.transition(1)))
  const aloneMs = (shards * elapsedUs) / 1000 / work.ends.length
  const answerMs = Math.max(segmentMs, HANDSHAKE_MS + UNFUSED * aloneMs)
  return { answerMs, traceMs: answerMs + AGAIN * aloneMs * Math.min(keptEvery(work), work.ends.length) }
}
