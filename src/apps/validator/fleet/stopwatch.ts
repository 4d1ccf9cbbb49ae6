import type { Clock } from '../../../ports/clock.ts'

/** How long something has gone on in all, however often at once. */
export class Stopwatch {
  readonly #clock: Clock
  #count = 0
  #sinceUs = 0
  #pastUs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isRunning(): boolean {
    return this.#count > 0
  }

  get ms(): number {
    return (this.#pastUs + (this.isRunning ? this.#clock.monotonicUs() - this.#sinceUs : 0)) / 1000
  }

  start(): void {
    if (this.#count++ === 0) this.#sinceUs = this.#clock.monotonicUs()
  }

  stop(): void {
    if (--this.#count === 0) this.#pastUs += this.#clock.monotonicUs() - this.#sinceUs
  }
}
