/** How many blocks of one author and slot, and votes of one voter, kind and round, go on to others (§3.11). */
const MOST_TWINS = 2
/** Slots, or rounds, after which they are forgotten. */
const REMEMBERED = 64

/** Counts what came of one author and slot, or one voter, kind and round: two prove an offence, more only cost. */
export class Twins<T> {
  private readonly seen = new Map<string, { readonly time: number; readonly values: Map<string, T> }>()

  /** Whether it is one of those that came, or there were fewer than two. */
  isWelcome(name: string, id: string): boolean {
    const values = this.seen.get(name)?.values
    return values === undefined || values.has(id) || values.size < MOST_TWINS
  }

  /** Keeps one that was found right, and returns another of the same name if there was one. */
  note(name: string, time: number, id: string, value: T): T | null {
    const known = this.seen.get(name) ?? { time, values: new Map<string, T>() }
    this.seen.set(name, known)
    const other = [...known.values].find(([each]) => each !== id)
    if (known.values.size < MOST_TWINS) known.values.set(id, value)
    return other?.[1] ?? null
  }

  forgetBefore(now: number): void {
    for (const [name, { time }] of this.seen) if (time < now - REMEMBERED) this.seen.delete(name)
  }
}
