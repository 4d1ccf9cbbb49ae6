import { Worker } from 'node:worker_threads'

/** How a program was handed in concerns its first thread alone. */
const isForThreads = (argument: string): boolean => !argument.startsWith('--input-type')

interface Waiting<Answer> {
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** A worker thread that answers each question once, in order. It keeps the process alive only while somebody waits for it. */
export class AskedThread<Question, Answer> {
  readonly #worker: Worker
  readonly #waiting: Waiting<Answer>[] = []
  #lost: Error | null = null

  constructor(script: URL, workerData?: unknown) {
    this.#worker = new Worker(script, { workerData, execArgv: process.execArgv.filter(isForThreads) })
    this.#worker.unref()
    this.#worker.on('message', (answer: Answer) => {
      this.#waiting.shift()?.resolve(answer)
      if (this.#waiting.length === 0) this.#worker.unref()
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('the thread has ended')))
  }

  get hasEnded(): boolean {
    return this.#lost !== null
  }

  /** `transfer`: buffers that the question gives away, so that they are not copied. */
  async ask(question: Question, transfer: readonly ArrayBuffer[] = []): Promise<Answer> {
    if (this.#lost) throw this.#lost
    this.#worker.ref()
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(question, transfer)
    })
  }

  /** Something that has no answer. */
  tell(message: unknown): void {
    this.#worker.postMessage(message)
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #fail(error: Error): void {
    this.#lost ??= error
    for (const { reject } of this.#waiting.splice(0)) reject(this.#lost)
  }
}
