import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { RejectReason } from '../../core/proof/reasons.ts'
import type { OpeningRange, Run } from '../../core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import { readKernel } from '../system/kernelFiles.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import type { FromWorker, ToWorker } from './workerProtocol.ts'

/** Ranges given to a worker ahead of its answers, so that it never waits for us. */
const AHEAD = 2

interface Job {
  readonly range: OpeningRange
  readonly id: number
  done(reason: RejectReason | null): void
  failed(error: Error): void
}

/** Verifies on all cores. Workers live until `close`; several runs share them, first come first served. */
export async function openThreadedChecker(threads = availableParallelism()): Promise<OpeningChecker> {
  const pool = new Pool(Math.max(1, threads), await readKernel('engine.wasm'))
  return {
    async check(run, ranges, onDone, signal) {
      signal.throwIfAborted()
      const id = pool.share(run)
      const onAbort = () => pool.drop(id, signal.reason as Error)
      signal.addEventListener('abort', onAbort, { once: true })
      const checkOne = async (range: OpeningRange) => {
        const reason = await pool.run(id, range)
        onDone(range.to - range.from)
        return reason
      }
      try {
        const results = await Promise.all(ranges.map(checkOne))
        return results.find((reason) => reason !== null) ?? null
      } finally {
        signal.removeEventListener('abort', onAbort)
        pool.drop(id, new Error('the check has ended'))
      }
    },
    close: () => pool.close(),
  }
}

class Pool {
  readonly #workers: { readonly worker: Worker; readonly running: Map<number, Job> }[]
  #waiting: Job[] = []
  #nextId = 0
  #nextTicket = 0
  #closed = false

  constructor(threads: number, wasm: Uint8Array) {
    const url = scriptUrl('./verifierWorker.ts', import.meta.url)
    this.#workers = Array.from({ length: threads }, () => {
      const worker = new Worker(url, { workerData: { wasm } })
      const running = new Map<number, Job>()
      worker.unref()
      worker.on('message', ({ ticket, reason }: FromWorker) => {
        running.get(ticket)?.done(reason)
        running.delete(ticket)
        this.#feed()
      })
      worker.on('error', (error) => {
        for (const job of running.values()) job.failed(error)
        running.clear()
      })
      return { worker, running }
    })
  }

  share(run: Run): number {
    const id = this.#nextId++
    for (const { worker } of this.#workers) this.#post(worker, { type: 'run', id, run })
    return id
  }

  run(id: number, range: OpeningRange): Promise<RejectReason | null> {
    return new Promise((done, failed) => {
      this.#waiting.push({ id, range, done, failed })
      this.#feed()
    })
  }

  /** Forgets a run: what waits is refused, what is being computed is left to end. */
  drop(id: number, why: Error): void {
    const dropped = this.#waiting.filter((job) => job.id === id)
    this.#waiting = this.#waiting.filter((job) => job.id !== id)
    for (const job of dropped) job.failed(why)
    for (const { worker, running } of this.#workers) {
      for (const job of running.values()) if (job.id === id) job.failed(why)
      this.#post(worker, { type: 'forget', id })
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#workers.map(({ worker }) => worker.terminate()))
  }

  #feed(): void {
    for (const slot of this.#workers) {
      while (slot.running.size < AHEAD && this.#waiting.length > 0) {
        const job = this.#waiting.shift()!
        const ticket = this.#nextTicket++
        slot.running.set(ticket, job)
        this.#post(slot.worker, { type: 'range', id: job.id, ticket, range: job.range })
      }
      // An idle pool must not keep the program alive; a busy one must.
      if (slot.running.size > 0) slot.worker.ref()
      else slot.worker.unref()
    }
  }

  #post(worker: Worker, message: ToWorker): void {
    if (!this.#closed) worker.postMessage(message)
  }
}
