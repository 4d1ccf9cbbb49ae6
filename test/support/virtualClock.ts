import type { Clock } from '../../src/ports/clock.ts'

interface Timer {
  readonly dueUs: number
  readonly order: number
  wake(): void
}

/**
 * Time that passes only while everybody waits: when all promises have settled, the clock jumps to the next timer. Runs
 * of minutes take milliseconds and are the same every time. Good for everything in this process that waits on promises
 * alone; work in threads or on sockets would be skipped over.
 */
export class VirtualClock implements Clock {
  #nowUs: number
  #wallMs = Date.UTC(2026, 0, 1)
  #timers: Timer[] = []
  #order = 0
  #ticking = false

  constructor(startUs = 1_000_000) {
    this.#nowUs = startUs
  }

  /** Every look takes a microsecond, so that before and after are never the same instant. */
  monotonicUs(): number {
    return this.#nowUs++
  }

  wallTime(): Date {
    return new Date(this.#wallMs + this.#nowUs / 1000)
  }

  /** The wall clock jumps, as it does when somebody sets it; the monotonic one does not. */
  jumpWall(milliseconds: number): void {
    this.#wallMs += milliseconds
  }

  /** Work that keeps its caller busy and lets nobody else go first. */
  spend(microseconds: number): void {
    this.#nowUs += Math.round(microseconds)
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        this.#timers = this.#timers.filter((other) => other !== timer)
        reject(signal!.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const timer = { dueUs: this.#nowUs + Math.ceil(milliseconds * 1000), order: this.#order++, wake }
      this.#timers.push(timer)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#tickLater()
    })
  }

  #tickLater(): void {
    if (this.#ticking) return
    this.#ticking = true
    setImmediate(() => {
      this.#ticking = false
      const next = this.#timers.reduce<Timer | null>(
        (first, timer) =>
          first && (first.dueUs < timer.dueUs || (first.dueUs === timer.dueUs && first.order < timer.order))
            ? first
            : timer,
        null,
      )
      if (!next) return
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#nowUs = Math.max(this.#nowUs, next.dueUs)
      next.wake()
      if (this.#timers.length > 0) this.#tickLater()
    })
  }
}
