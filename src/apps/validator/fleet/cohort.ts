import type { Clock } from '../../../ports/clock.ts'

/** How long the first to be ready waits for the last. */
export const GATE_LIMIT_MS = 60_000

/** Lets the boxes of one cohort start in the same moment (§8): a card lent to two of them cannot serve one after the other. */
export class Cohort {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #expected: Set<number>
  #open = () => {}
  readonly #opened: Promise<void>

  constructor(members: readonly number[], clock: Clock, limitMs = GATE_LIMIT_MS) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#expected = new Set(members)
    this.#opened = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  async arrive(member: number, signal: AbortSignal): Promise<void> {
    this.leave(member)
    const timer = new AbortController()
    const either = AbortSignal.any([signal, timer.signal])
    try {
      await Promise.race([this.#opened, this.#clock.sleep(this.#limitMs, either).catch(() => {})])
    } finally {
      timer.abort()
    }
    signal.throwIfAborted()
  }

  leave(member: number): void {
    this.#expected.delete(member)
    if (this.#expected.size === 0) this.#open()
  }
}
