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
      const id = pool.share(run)
      try {
        const results = await Promise.all(
          ranges.map(async (range) => {
            const reason = await pool.run(id, range, signal)
            onDone(range.to - range.from)
            return reason
          }),
        )
        return results.find((reason) => reason !== null) ?? null
      } finally {
        pool.forget(id)
      }
    },
    close: () => pool.close(),
  }
}

class Pool {
  readonly #workers: { readonly worker: Worker; readonly running: Map<number, Job> }[]
  readonly #waiting: Job[] = []
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

  forget(id: number): void {
    for (const { worker } of this.#workers) this.#post(worker, { type: 'forget', id })
  }

  run(id: number, range: OpeningRange, signal: AbortSignal): Promise<RejectReason | null> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const job: Job = { id, range, done: finish(resolve), failed: finish(reject) }
      const onAbort = () => {
        const at = this.#waiting.indexOf(job)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      function finish<T>(settle: (value: T) => void) {
        return (value: T) => {
          signal.removeEventListener('abort', onAbort)
          settle(value)
        }
      }
      this.#waiting.push(job)
      this.#feed()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#workers.map(({ worker }) => worker.terminate()))
  }

  #feed(): void {
    while (this.#waiting.length > 0) {
      const free = this.#workers.reduce((a, b) => (b.running.size < a.running.size ? b : a))
      for (const { worker, running } of this.#workers) running.size > 0 ? worker.ref() : worker.unref()
      if (free.running.size >= AHEAD) return
      const job = this.#waiting.shift()!
      const ticket = this.#nextTicket++
      free.running.set(ticket, job)
      free.worker.ref()
      this.#post(free.worker, { type: 'range', id: job.id, ticket, range: job.range })
    }
    for (const { worker, running } of this.#workers) if (running.size === 0) worker.unref()
  }

  #post(worker: Worker, message: ToWorker): void {
    if (!this.#closed) worker.postMessage(message)
  }
}
