import { Worker } from 'node:worker_threads'
import type { DeviceFacts } from '../../../ports/device.ts'
import type { TouchstoneError } from '../../../ports/errors.ts'
import { portFault } from '../../../ports/faults.ts'
import { type CardAnswer, type CardJob, type CardStart, fromWireFault } from './cardMessages.ts'
import { fault } from './faults.ts'
import { Stop } from './stop.ts'

type Result = Extract<CardAnswer, { type: 'done' }>['result']

interface Running {
  readonly onRoot: (root: Uint8Array) => void
  readonly resolve: (result: Result) => void
  readonly reject: (reason: unknown) => void
}

/** A card that does not even stop within this is given up; its thread is ended. */
export const STOP_MS = 15_000

const lost = (card: number, what: string, cause?: unknown): TouchstoneError =>
  fault('GPU_LOST', { card, what: `card ${card}: ${what}`, mend: LOOK_FOR_XIDS }, cause)

const LOOK_FOR_XIDS = 'Look for Xid lines in the kernel log (dmesg), then open the card again.'

/** The main thread's end of a card: one job at a time, roots handed on as they come, a lost card told as a fault. */
export class CardThread {
  readonly ordinal: number
  readonly #worker: Worker
  readonly #stopMs: number
  readonly #stop = new Stop()
  #running: Running | null = null
  #broken: TouchstoneError | null = null
  #opened: { resolve(facts: DeviceFacts): void; reject(reason: unknown): void } | null = null

  constructor(script: URL, start: Omit<CardStart, 'stop'>, stopMs: number) {
    this.ordinal = start.ordinal
    this.#stopMs = stopMs
    const shared = this.#stop.flag.buffer as SharedArrayBuffer
    this.#worker = new Worker(script, { workerData: { ...start, stop: shared } satisfies CardStart })
    this.#worker.on('message', (answer: CardAnswer) => this.#hear(answer))
    this.#worker.on('error', (error) => this.#fail(lost(this.ordinal, 'its thread failed', error)))
    this.#worker.on('exit', () => this.#fail(portFault('DEVICE_CLOSED', { device: `card ${this.ordinal}` })))
  }

  /** Resolves with the card's facts once it is open. */
  opened(): Promise<DeviceFacts> {
    if (this.#broken) return Promise.reject(this.#broken)
    return new Promise((resolve, reject) => {
      this.#opened = { resolve, reject }
    })
  }

  async run(job: CardJob, onRoot: (root: Uint8Array) => void, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted()
    if (this.#broken) throw this.#broken
    if (this.#running) throw portFault('DEVICE_BUSY', { what: `card ${this.ordinal} does one thing at a time` })
    this.#stop.clear()
    this.#worker.ref()
    const giveUp = new AbortController()
    let ended = false
    const end = (reason: unknown) => {
      if (ended) return
      ended = true
      giveUp.abort(reason)
      this.#stop.request()
    }
    const onAbort = () => end(signal.reason)
    signal.addEventListener('abort', onAbort)
    const timer = { id: undefined as ReturnType<typeof setTimeout> | undefined }
    giveUp.signal.addEventListener('abort', () => {
      timer.id = setTimeout(() => void this.#abandon(), this.#stopMs)
    })
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#running = { resolve, reject, onRoot: guarded(onRoot, () => ended, end) }
        this.#worker.postMessage(job)
      })
    } catch (error) {
      throw giveUp.signal.aborted ? giveUp.signal.reason : error
    } finally {
      clearTimeout(timer.id)
      signal.removeEventListener('abort', onAbort)
      this.#worker.unref()
    }
  }

  /** Stops what runs, frees the card's memory and ends the thread. */
  async close(): Promise<void> {
    if (this.#broken) return
    this.#stop.request()
    const gone = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()))
    this.#worker.ref()
    this.#worker.postMessage({ do: 'close' } satisfies CardJob)
    const timer = setTimeout(() => void this.#worker.terminate(), this.#stopMs)
    await gone
    clearTimeout(timer)
  }

  async #abandon(): Promise<void> {
    this.#fail(lost(this.ordinal, `did not stop within ${this.#stopMs / 1000} s`))
    await this.#worker.terminate()
  }

  #hear(answer: CardAnswer): void {
    if (answer.type === 'opened') {
      this.#worker.unref()
      this.#opened?.resolve(answer.facts)
      this.#opened = null
    } else if (answer.type === 'roots') {
      const { onRoot } = this.#running ?? {}
      for (let at = 0; at < answer.roots.length; at += 32) onRoot?.(answer.roots.slice(at, at + 32))
    } else {
      const running = this.#running
      this.#running = null
      if (answer.type === 'done') running?.resolve(answer.result)
      else if (running) running.reject(fromWireFault(answer.fault))
      else this.#opened?.reject(fromWireFault(answer.fault))
    }
  }

  #fail(reason: TouchstoneError): void {
    this.#broken ??= reason
    this.#opened?.reject(this.#broken)
    this.#opened = null
    this.#running?.reject(this.#broken)
    this.#running = null
  }
}

/** After an abort nothing more is handed out; what a listener throws ends the run. */
function guarded(onRoot: (root: Uint8Array) => void, ended: () => boolean, end: (reason: unknown) => void) {
  return (root: Uint8Array) => {
    if (ended()) return
    try {
      onRoot(root)
    } catch (error) {
      end(error)
    }
  }
}
