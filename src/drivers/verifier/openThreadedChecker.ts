import { setImmediate } from 'node:timers/promises'
import type { RejectReason } from '../../core/proof/reasons.ts'
import type { OpeningRange } from '../../core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import { stopOnAbort } from '../system/stopOnAbort.ts'
import { usableCores } from '../system/usableCores.ts'
import { chooseEngine } from './engineStart.ts'
import { firstWrong } from './firstWrong.ts'
import { sharePart } from './sharedPart.ts'
import type { RangeQuestion, RunNews } from './verifierWorker.ts'

type Thread = AskedThread<RangeQuestion, RejectReason | null>

/** Ranges given to a thread ahead of its answers, so that it never waits for us. */
const AHEAD = 2

/** About a run that nobody told of: answered at once with nothing, after everything before it. */
const NOTHING: RangeQuestion = { id: -1, range: { part: 0, device: 0, from: 0, to: 0 } }

export interface ThreadedChecker extends OpeningChecker {
  /** Rejects where one of its threads could not begin: it would be missed for good (attack 480). */
  readonly ready: Promise<unknown>
}

/** Verifies on all cores. Threads live until `close`; several runs share them, first come first served. */
export async function openThreadedChecker(threads = usableCores()): Promise<ThreadedChecker> {
  const start = await chooseEngine()
  const script = scriptUrl('./verifierWorker.ts', import.meta.url)
  const all = Array.from({ length: Math.max(1, threads) }, (): Thread => new AskedThread(script, start))
  const free = Array.from({ length: AHEAD }, () => all).flat()
  const waiting: ((thread: Thread) => void)[] = []
  const take = async () => free.shift() ?? (await new Promise<Thread>((resolve) => waiting.push(resolve)))
  const giveBack = (thread: Thread) => (waiting.shift() ?? ((one) => free.push(one)))(thread)
  const tellAll = async (news: RunNews) => {
    for (const thread of all) {
      // Each copies what it is told in our own thread, in which other boxes wait for the time of their roots (attack 162).
      await setImmediate()
      thread.tell(news)
    }
  }
  const ready = Promise.all(all.map((thread) => thread.ask(NOTHING)))
  // Whoever does not wait for it hears of it from the first question.
  ready.catch(() => {})
  let runs = 0
  return {
    ready,
    async check(run, ranges, onDone, signal) {
      const id = runs++
      let over = false
      const checkOne = async (range: OpeningRange) => {
        const thread = await take()
        try {
          const reason = over ? null : await thread.ask({ id, range })
          if (!over) onDone(range.to - range.from)
          return reason
        } finally {
          giveBack(thread)
        }
      }
      try {
        await tellAll({ id, challenge: run.challenge })
        for (const part of run.parts) await tellAll({ id, part: sharePart(part) })
        const results = await new Promise<(RejectReason | null)[]>((resolve, reject) => {
          void stopOnAbort(signal, reject, () => Promise.all(ranges.map(checkOne))).then(resolve, reject)
        })
        return firstWrong(results, ranges.length)
      } finally {
        over = true
        await tellAll({ id, challenge: null })
      }
    },
    // A thread that is stopped while it loads or calls a native library takes the process with it: first it comes to rest.
    close: async () => {
      await Promise.all(all.map((thread) => thread.ask(NOTHING).catch(() => null)))
      await Promise.all(all.map((thread) => thread.close()))
    },
  }
}
