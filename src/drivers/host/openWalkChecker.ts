import type { Stretch, WalkChecker } from '../../ports/walkChecker.ts'
import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import { usableCores } from '../system/usableCores.ts'
import { chooseRounds } from './hostRounds.ts'

/** Walks lanes again in threads of their own: the thread that stamps the roots of other boxes must not wait for hashes. */
export function openWalkChecker(threads = usableCores()): WalkChecker & { close(): Promise<void> } {
  const script = scriptUrl('./walkCheckWorker.ts', import.meta.url)
  let workers: AskedThread<Stretch, boolean>[] = []
  return {
    async check(stretches, signal) {
      const start = await chooseRounds()
      // One that could not begin for want of files is no loss for good (attack 480).
      workers = workers.filter((thread) => !thread.hasEnded)
      while (workers.length < threads) workers.push(new AskedThread(script, start))
      let [next, wrong] = [0, null as number | null]
      const work = async (thread: AskedThread<Stretch, boolean>) => {
        while (next < stretches.length && wrong === null) {
          signal.throwIfAborted()
          const index = next++
          if (!(await thread.ask(stretches[index]!))) wrong = index
        }
      }
      await Promise.all(workers.map(work))
      return wrong
    },
    close: async () => {
      await Promise.all(workers.splice(0).map((thread) => thread.close()))
    },
  }
}
