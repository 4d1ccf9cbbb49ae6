import { freemem } from 'node:os'
import { Worker } from 'node:worker_threads'
import { WASM_PAGE_BYTES, type WasmMemory, webAssembly } from '../../../core/engine/webAssembly.ts'
import type { OnRoot } from '../../../ports/device.ts'
import { portFault } from '../../../ports/faults.ts'
import { handOut } from '../handOut.ts'
import { sizeRefused } from '../tasks.ts'
import { CONTROL_BYTES, type Control, openControl } from './control.ts'
import { fault } from './faults.ts'
import type { Job, JobMessage, KernelSource, WorkerMessage, WorkerStart } from './jobs.ts'
import { LARGEST_MEMORY_BYTES } from './layout.ts'

export interface PoolOptions {
  readonly kernels: KernelSource
  readonly threads: number
  readonly script: URL
}

interface Running {
  readonly onRoot: OnRoot
  readonly finish: () => void
  readonly fail: (cause: unknown) => void
}

/** Worker threads that live as long as the device, and the one memory they share. */
export class Pool {
  readonly threads: number
  readonly #workers: readonly Worker[]
  readonly #loaded = new Map<Worker, Promise<unknown>>()
  readonly #control: Control
  #running: Running | null = null
  #broken: unknown = null
  #closed = false
  #memory: WasmMemory | null = null
  #sent: WasmMemory | null = null

  constructor({ kernels, threads, script }: PoolOptions) {
    const shared = new SharedArrayBuffer(CONTROL_BYTES)
    this.threads = threads
    this.#control = openControl(shared)
    this.#workers = Array.from({ length: threads }, (_, index) => {
      const workerData: WorkerStart = { kernels, index, threads, control: shared }
      return this.#listen(new Worker(script, { workerData }))
    })
  }

  /** Resolves when every thread has loaded its script. */
  async online(): Promise<void> {
    await this.#allDone(
      () => {},
      () => {},
    )
    this.#running = null
    for (const worker of this.#workers) worker.unref()
  }

  requireIdle(): void {
    if (this.#closed) throw portFault('DEVICE_CLOSED', { device: 'the device' })
    if (this.#broken) throw fault('CPU_THREAD_FAILED', {}, this.#broken)
    if (this.#running)
      throw portFault('DEVICE_BUSY', { what: 'the device is at work: one series, fill or set of passes at a time' })
  }

  /** The shared memory, at least this large. What lay in it before may be gone. */
  prepare(bytes: number): Uint8Array {
    this.requireIdle()
    if (!this.#memory || this.#memory.buffer.byteLength < bytes) {
      this.#memory = null
      this.#memory = newMemory(bytes)
    }
    return new Uint8Array(this.#memory.buffer)
  }

  async run(job: Job, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.requireIdle()
    this.#control.reset()
    const cancel = () => this.#control.cancel()
    // Idle threads do not keep the process alive; working ones do.
    for (const worker of this.#workers) worker.ref()
    try {
      await handOut(onRoot, signal, cancel, (guarded) => this.#start(job, guarded))
    } finally {
      this.#running = null
      if (!this.#closed) for (const worker of this.#workers) worker.unref()
    }
  }

  #start(job: Job, onRoot: OnRoot): Promise<void> {
    const message: JobMessage = this.#sent === this.#memory ? { job } : { job, memory: this.#memory! }
    this.#sent = this.#memory
    return this.#allDone(onRoot, () => {
      for (const worker of this.#workers) worker.postMessage(message)
    })
  }

  #allDone(onRoot: OnRoot, begin: () => void): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      let left = this.threads
      this.#running = {
        onRoot,
        finish: () => --left === 0 && resolve(),
        fail: (cause) => reject(fault('CPU_THREAD_FAILED', {}, cause)),
      }
      begin()
    })
  }

  /** Lets go of the memory; the threads let go of theirs with the next job. */
  shrink(): void {
    this.#memory = null
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#control.cancel()
    this.#running?.fail(new Error('the device was closed'))
    // A process that waits for nothing but idle threads would end here, with its answer not given.
    for (const worker of this.#workers) worker.ref()
    await this.#endAll()
  }

  #listen(worker: Worker): Worker {
    const loaded = new Promise<void>((resolve) => {
      worker.once('message', () => resolve())
      worker.once('exit', () => resolve())
    })
    this.#loaded.set(worker, loaded)
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'root') this.#running?.onRoot(message.root)
      else this.#running?.finish()
    })
    worker.on('error', (cause) => this.#fail(cause))
    worker.on('exit', (code) => this.#fail(new Error(`a thread ended with code ${code}`)))
    return worker
  }

  /** The others may wait for the lost thread for ever: all of them end. */
  #fail(cause: unknown): void {
    if (this.#closed) return
    this.#broken ??= cause
    this.#control.cancel()
    void this.#endAll()
    this.#running?.fail(cause)
  }

  /** A thread that is ended while koffi loads a library in it takes the process with it: it loads first. */
  async #endAll(): Promise<void> {
    const end = async (worker: Worker) => {
      await this.#loaded.get(worker)
      await worker.terminate()
    }
    await Promise.all(this.#workers.map(end))
  }
}

function newMemory(bytes: number): WasmMemory {
  if (bytes > LARGEST_MEMORY_BYTES) throw sizeRefused('working memory', bytes, `at most ${LARGEST_MEMORY_BYTES} bytes`)
  requireFree(bytes)
  const pages = Math.ceil(bytes / WASM_PAGE_BYTES)
  try {
    return new webAssembly.Memory({ initial: pages, maximum: pages, shared: true })
  } catch (cause) {
    throw fault('OUT_OF_MEMORY', { askedBytes: bytes, freeBytes: freemem() }, cause)
  }
}

/** The system would hand out more than there is and end the process later; a refusal is kinder. */
export function requireFree(bytes: number): void {
  const free = freemem()
  if (bytes > free) throw fault('OUT_OF_MEMORY', { askedBytes: bytes, freeBytes: free })
}
