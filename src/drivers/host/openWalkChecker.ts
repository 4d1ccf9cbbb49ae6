import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Stretch, WalkChecker } from '../../ports/walkChecker.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import { laneStart } from './hostWalk.ts'

/** Walks lanes again in threads of their own: the thread that stamps the roots of other boxes must not wait for hashes. */
export function openWalkChecker(threads = availableParallelism()): WalkChecker & { close(): Promise<void> } {
  const workers: Thread[] = []
  const started = (): Thread[] => {
    while (workers.length < threads) workers.push(new Thread())
    return workers
  }
  return {
    start: laneStart,
    async check(stretches, signal) {
      let [next, wrong] = [0, null as number | null]
      const work = async (thread: Thread) => {
        while (next < stretches.length && wrong === null) {
          signal.throwIfAborted()
          const index = next++
          if (!(await thread.holds(stretches[index]!))) wrong = index
        }
      }
      await Promise.all(started().map(work))
      return wrong
    },
    close: async () => {
      await Promise.all(workers.splice(0).map((thread) => thread.close()))
    },
  }
}

interface Waiting {
  resolve(holds: boolean): void
  reject(error: Error): void
}

class Thread {
  readonly #worker = new Worker(scriptUrl('./walkCheckWorker.ts', import.meta.url))
  readonly #waiting = new Map<number, Waiting>()
  #tickets = 0

  constructor() {
    // It keeps the process alive only while somebody waits for it.
    this.#worker.unref()
    this.#worker.on('message', ({ ticket, holds }: { ticket: number; holds: boolean }) => {
      this.#waiting.get(ticket)?.resolve(holds)
      this.#waiting.delete(ticket)
      if (this.#waiting.size === 0) this.#worker.unref()
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('a thread that walks lanes again has ended')))
  }

  holds(stretch: Stretch): Promise<boolean> {
    const ticket = this.#tickets++
    this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#waiting.set(ticket, { resolve, reject })
      this.#worker.postMessage({ ticket, stretch })
    })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
