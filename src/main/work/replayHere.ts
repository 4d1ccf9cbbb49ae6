import { within } from '../../apps/shared/within.ts'
import type { ReplayHere } from '../../apps/work/watchReplicas.ts'
import type { Watch } from '../../apps/work/workListener.ts'
import { WorkRefusal } from '../../core/work/refusals.ts'
import { operationsOfWork } from '../../core/work/work.ts'
import { AskedThread } from '../../drivers/system/askedThread.ts'
import { scriptUrl } from '../../drivers/system/scriptUrl.ts'
import type { ReplayAnswer, ToReplay } from './replayWorker.ts'

/** W5.3. A minute or a few of one core: who watches a larger work does not do it over. */
const MOST_OPERATIONS = 3e11
/** The same in paths: a core follows 0.3 to 2.6 million a second through scenes of 700 to 300,000 triangles. */
const MOST_PATHS = 1e8
/** A core may be slow, and a scene harder than those. */
const LONGEST_MS = 600_000

/**
 * In a thread of its own: meanwhile boxes hear that somebody is here, or they would let go of their provers, and whoever
 * waits can end it (attack 511).
 */
export const replayHere =
  ({ work, given, clock }: Pick<Watch, 'work' | 'given' | 'clock'>, signal: AbortSignal): ReplayHere =>
  async (said, through = work.ends.length - 1) => {
    const count = Math.min(through + 1, mostSegments(work))
    if (count < (said ? work.ends.length : 1)) return null
    const thread = new AskedThread<ToReplay, ReplayAnswer>(scriptUrl('./replayWorker.ts', import.meta.url))
    // Copies that are given away: no message holds as much as inputs may have.
    const copies = new Map([...given].map(([name, bytes]) => [name, new Uint8Array(bytes)] as const))
    const { text, orderId, seed } = work
    const asked = { order: { text, orderId, seed }, given: copies, asked: said ?? count }
    try {
      const buffers = [...copies.values()].map(({ buffer }) => buffer)
      const answer = await within(clock, LONGEST_MS, thread.ask(asked, buffers), signal)
      signal.throwIfAborted()
      if (answer && 'refused' in answer) throw new WorkRefusal(answer.refused, answer.why)
      return answer
    } finally {
      // Not waited for: no step of it can be interrupted.
      void thread.close()
    }
  }

/** As if all its transitions were alike: where they are not, the time ends it. */
function mostSegments(work: Watch['work']): number {
  const each = operationsOfWork(work) / work.spec.transitions
  const most = work.unit === 'paths' ? MOST_PATHS : MOST_OPERATIONS
  return work.ends.filter((end) => end * each <= most).length
}
