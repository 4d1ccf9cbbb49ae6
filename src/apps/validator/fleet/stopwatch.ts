import type { Clock } from '../../../ports/clock.ts'

/** How long something has gone on in all, for one or for several at once. */
export class Stopwatch {
  readonly #clock: Clock
  readonly #running = new Set<unknown>()
  #sinceUs = 0
  #pastUs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get ms(): number {
    return (this.#pastUs + (this.#running.size > 0 ? this.#clock.monotonicUs() - this.#sinceUs : 0)) / 1000
  }

  /** Once for each: that it goes on, or does no longer, may be told again. */
  set(whose: unknown, goesOn: boolean): void {
    const wasRunning = this.#running.size > 0
    if (goesOn) this.#running.add(whose)
    else this.#running.delete(whose)
    const isRunning = this.#running.size > 0
    if (isRunning && !wasRunning) this.#sinceUs = this.#clock.monotonicUs()
    if (wasRunning && !isRunning) this.#pastUs += this.#clock.monotonicUs() - this.#sinceUs
  }
}
