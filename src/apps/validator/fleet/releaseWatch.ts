import type { Clock } from '../../../ports/clock.ts'

/** How long a box where our prover did not start waits for another to show that it can. */
const WAIT_MS = 60_000

/** Where our prover starts and where it does not: a release that starts nowhere is broken, and no box is to blame for it. */
export class ReleaseWatch {
  readonly #clock: Clock
  /** The last round in which a box has started our prover, and the boxes where it did not start since. */
  #startedRound = -1
  readonly #notStarted = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  started(round: number): void {
    this.#startedRound = Math.max(this.#startedRound, round)
    this.#notStarted.clear()
  }

  /**
   * After it did not start on this box: whether it starts anywhere in this round. While `othersRun`, those are waited for.
   * One box alone cannot say that the release is broken, or that box would never fail.
   */
  async runs(boxId: string, round: number, othersRun: () => boolean, signal: AbortSignal): Promise<boolean> {
    this.#notStarted.add(boxId)
    const untilUs = this.#clock.monotonicUs() + WAIT_MS * 1000
    while (this.#startedRound < round && othersRun() && this.#clock.monotonicUs() < untilUs)
      await this.#clock.sleep(250, signal)
    return this.#startedRound >= round || this.#notStarted.size < 2
  }
}
