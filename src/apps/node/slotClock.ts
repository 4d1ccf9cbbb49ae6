import type { Genesis } from '../../core/chain/genesisType.ts'
import type { Clock } from '../../ports/clock.ts'

/** The slots of a chain by a clock, until it is stopped. */
export class SlotClock {
  readonly slotMs: number
  private readonly beganMs: number
  private readonly clock: Clock
  private readonly stopping = new AbortController()

  constructor(clock: Clock, { params, timeMs }: Genesis) {
    this.clock = clock
    this.slotMs = Number(params.slotMs)
    this.beganMs = Number(timeMs)
  }

  /** The slot that it is now. */
  get slot(): number {
    return Math.floor(this.sinceGenesisMs / this.slotMs)
  }

  get isStopped(): boolean {
    return this.stopping.signal.aborted
  }

  /** Whoever waits goes on at once. */
  stop(): void {
    this.stopping.abort()
  }

  /** Waits for a slot, or for some part of it to pass. */
  async until(slot: number): Promise<void> {
    const { signal } = this.stopping
    if (signal.aborted) return
    try {
      await this.clock.sleep(Math.max(0, slot * this.slotMs - this.sinceGenesisMs), signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  private get sinceGenesisMs(): number {
    return this.clock.wallTime().getTime() - this.beganMs
  }
}
