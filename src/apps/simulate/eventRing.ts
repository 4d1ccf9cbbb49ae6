/** Ticks ahead that an event may lie: a power of two. */
const HORIZON = 1 << 14

/**
 * Events by tick of a virtual clock: a ring of lists, since nothing lies far ahead. Putting and taking cost the same at any
 * size, and events of one tick come in the order they were put, so that a run replays.
 */
export class EventRing<Event> {
  private readonly ring = Array.from({ length: HORIZON }, () => ({ to: [] as number[], what: [] as Event[] }))
  private tick = 0

  get now(): number {
    return this.tick
  }

  /** In so many ticks from now; 0 comes after what this tick still holds. */
  put(delay: number, to: number, event: Event): void {
    if (delay < 0 || delay >= HORIZON) throw new RangeError(`an event may lie ${HORIZON - 1} ticks ahead, not ${delay}`)
    const due = this.ring[(this.tick + delay) & (HORIZON - 1)]!
    due.to.push(to)
    due.what.push(event)
  }

  /** Hands out all events up to this tick, it excluded. */
  runUntil(end: number, handle: (to: number, event: Event) => void): void {
    for (; this.tick < end; this.tick++) {
      const due = this.ring[this.tick & (HORIZON - 1)]!
      for (let at = 0; at < due.what.length; at++) handle(due.to[at]!, due.what[at]!)
      due.to.length = 0
      due.what.length = 0
    }
  }
}
