import { Worker } from 'node:worker_threads'
import type { DeviceFacts, OnRoot } from '../../../ports/device.ts'
import type { TouchstoneError } from '../../../ports/errors.ts'
import { portFault } from '../../../ports/faults.ts'
import { handOut } from '../handOut.ts'
import { type CardAnswer, type CardJob, type CardStart, type CardTasks, fromWireFault } from './cardMessages.ts'
import { fault } from './faults.ts'
import { Stop } from './stop.ts'

interface Running {
  readonly onRoot: OnRoot
  readonly resolve: (result: unknown) => void
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
  /** What the card says of itself, once it is open. */
  readonly opened: Promise<DeviceFacts>
  readonly #worker: Worker
  readonly #stopMs: number
  readonly #stop = new Stop()
  #running: Running | null = null
  #broken: TouchstoneError | null = null

  constructor(script: URL, start: Omit<CardStart, 'stop'>, stopMs: number) {
    this.ordinal = start.ordinal
    this.#stopMs = stopMs
    const shared = this.#stop.flag.buffer as SharedArrayBuffer
    this.#worker = new Worker(script, { workerData: { ...start, stop: shared } satisfies CardStart })
    this.opened = this.#answer(() => {}) as Promise<DeviceFacts>
    this.#worker.on('message', (answer: CardAnswer) => this.#hear(answer))
    this.#worker.on('error', (error) => this.#fail(lost(this.ordinal, 'its thread failed', error)))
    this.#worker.on('exit', () => this.#fail(portFault('DEVICE_CLOSED', { device: `card ${this.ordinal}` })))
  }

  async run<Call extends keyof CardTasks>(
    call: Call,
    task: Parameters<CardTasks[Call]>[0],
    onRoot: OnRoot,
    signal: AbortSignal,
  ): Promise<ReturnType<CardTasks[Call]>> {
    signal.throwIfAborted()
    if (this.#broken) throw this.#broken
    if (this.#running) throw portFault('DEVICE_BUSY', { what: `card ${this.ordinal} does one thing at a time` })
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = () => {
      this.#stop.request()
      timer = setTimeout(() => void this.#abandon(), this.#stopMs)
    }
    const work = (guarded: OnRoot) => {
      this.#stop.clear()
      this.#worker.ref()
      this.#worker.postMessage({ call, task } satisfies CardJob)
      return this.#answer(guarded)
    }
    try {
      return (await handOut(onRoot, signal, stop, work)) as ReturnType<CardTasks[Call]>
    } finally {
      clearTimeout(timer)
    }
  }

  /** Stops what runs, frees the card's memory and ends the thread. */
  async close(): Promise<void> {
    if (this.#broken) return
    this.#stop.request()
    const gone = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()))
    this.#worker.ref()
    this.#worker.postMessage({ call: 'close', task: undefined } satisfies CardJob)
    const timer = setTimeout(() => void this.#worker.terminate(), this.#stopMs)
    await gone
    clearTimeout(timer)
  }

  async #abandon(): Promise<void> {
    this.#fail(lost(this.ordinal, `did not stop within ${this.#stopMs / 1000} s`))
    await this.#worker.terminate()
  }

  async #answer(onRoot: OnRoot): Promise<unknown> {
    try {
      return await new Promise((resolve, reject) => {
        this.#running = { onRoot, resolve, reject }
      })
    } finally {
      this.#running = null
      this.#worker.unref()
    }
  }

  #hear(answer: CardAnswer): void {
    if (answer.type === 'done') this.#running?.resolve(answer.result)
    else if (answer.type === 'fault') this.#running?.reject(fromWireFault(answer.fault))
    else for (let at = 0; at < answer.roots.length; at += 32) this.#running?.onRoot(answer.roots.slice(at, at + 32))
  }

  #fail(reason: TouchstoneError): void {
    this.#broken ??= reason
    this.#running?.reject(this.#broken)
  }
}
