/** Less than this is the time that blocks need to travel. */
const LEAST_MS = 10_000

/** What a clock would have to be set by, as peers see it. */
export interface ClockDoubt {
  /** Above 0: this clock is ahead of theirs. */
  readonly seconds: number
}

/**
 * Notices that the clock of this machine is off. A peer whose head is of a slot that has not begun here has a clock ahead of
 * ours; one that has what is final here, and whose head moves and still lies far back, has one behind it. One peer may lie: this
 * only leads to a word of warning.
 */
export class ClockWatch {
  private readonly slotMs: number
  private readonly heads = new Map<string, number>()

  constructor(slotMs: number) {
    this.slotMs = slotMs
  }

  /** A peer said which slot its head is of. One that is still fetching blocks lies before what is final here. */
  note(
    peer: string,
    headSlot: number,
    { now, final }: { readonly now: number; readonly final: number },
  ): ClockDoubt | null {
    const before = this.heads.get(peer)
    this.heads.delete(peer)
    this.heads.set(peer, headSlot)
    if (this.heads.size > 64) this.heads.delete(this.heads.keys().next().value!)
    const aheadMs = (now - headSlot) * this.slotMs
    const isBehind = -aheadMs > LEAST_MS
    const isAhead = aheadMs > LEAST_MS && before !== undefined && headSlot > before && headSlot >= final
    return isBehind || isAhead ? { seconds: Math.round(aheadMs / 1_000) } : null
  }
}
