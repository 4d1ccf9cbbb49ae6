import type { Challenge } from '../../../core/proof/challenge.ts'
import type { Clock } from '../../../ports/clock.ts'
import { fault } from '../../shared/faults.ts'
import { orAborted } from '../../shared/orAborted.ts'
import { within } from '../../shared/within.ts'

/** Longest that the first box at a part waits for the others; for the first part the limit is that of the start. */
export const PART_WAIT_MS = 60_000

/** Opens once, for those who have arrived: when all have, or at its time. Who comes later does not pass. */
class Gate {
  readonly #clock: Clock
  readonly #expected: Set<number>
  readonly passed = new Set<number>()
  openedUs: number | null = null
  #open = () => {}
  readonly opened: Promise<void>

  constructor(members: Iterable<number>, limitMs: number, clock: Clock) {
    this.#clock = clock
    this.#expected = new Set(members)
    this.opened = new Promise((resolve) => {
      this.#open = resolve
    })
    void within(clock, limitMs, this.opened).then(() => this.#release())
    this.#releaseIfAllCame()
  }

  /** False: it was opened without this one. */
  arrive(member: number): boolean {
    if (this.openedUs !== null) return this.passed.has(member)
    this.passed.add(member)
    this.#expected.delete(member)
    this.#releaseIfAllCame()
    return true
  }

  leave(member: number): void {
    if (this.openedUs === null) this.passed.delete(member)
    this.#expected.delete(member)
    this.#releaseIfAllCame()
  }

  #releaseIfAllCame(): void {
    if (this.#expected.size === 0) this.#release()
  }

  #release(): void {
    if (this.openedUs !== null) return
    this.openedUs = this.#clock.monotonicUs()
    this.#open()
  }
}

/**
 * Boxes that are measured in one window (§8): the clock of every part starts for all of them at the same moment, so that a
 * card lent to two of them cannot serve one after the other.
 */
export class Cohort {
  readonly #boxes: ReadonlyMap<number, string>
  readonly #clock: Clock
  readonly #gates: Gate[]
  /** By job, the number of its parts once that is known. */
  readonly #parts = new Map<number, number>()
  readonly #left = new Set<number>()

  /** By job, the box. `limitMs` is the time from taking the jobs to T0. */
  constructor(boxes: ReadonlyMap<number, string>, limitMs: number, clock: Clock) {
    this.#boxes = boxes
    this.#clock = clock
    this.#gates = [new Gate(boxes.keys(), limitMs, clock)]
  }

  /** Fulfilled when the first part may begin; only then is it known who is late. */
  get started(): Promise<void> {
    return this.#gates[0]!.opened
  }

  /** Whether it stands at the first gate or has gone through it. */
  isReady(job: number): boolean {
    return this.#gates[0]!.passed.has(job)
  }

  /** Before a part of a run. Who comes to the first too late is told so; later the window says it. */
  async beforeStart(job: number, part: number, challenge: Challenge, signal: AbortSignal): Promise<void> {
    this.#parts.set(job, challenge.parts.length)
    const gate = this.#gateOf(part)
    if (gate.arrive(job)) await orAborted(gate.opened, signal)
    else if (part === 0) throw fault('WINDOW_MISSED')
  }

  leave(job: number): void {
    this.#left.add(job)
    for (const gate of this.#gates) gate.leave(job)
  }

  /** When each part was begun by all; null where nobody has come so far. */
  get openedUs(): readonly (number | null)[] {
    return this.#gates.map(({ openedUs }) => openedUs)
  }

  /** The other boxes of the cohort, and those of them that began the last part they have in common together with this one. */
  mates(job: number): { readonly mates: readonly string[]; readonly together: readonly string[] } {
    const others = [...this.#boxes.keys()].filter((other) => other !== job)
    const isTogether = (other: number) => {
      const last = Math.min(this.#parts.get(job) ?? 0, this.#parts.get(other) ?? 0) - 1
      return [job, other].every((each) => this.#gates[last]?.passed.has(each))
    }
    const named = (jobs: readonly number[]) => jobs.map((other) => this.#boxes.get(other)!)
    return { mates: named(others), together: named(others.filter(isTogether)) }
  }

  /** A later part is waited for by those who began the one before, go on and have such a part. */
  #gateOf(part: number): Gate {
    const known = this.#gates[part]
    if (known) return known
    const before = [...(this.#gates[part - 1]?.passed ?? [])]
    const expected = before.filter((job) => !this.#left.has(job) && this.#parts.get(job)! > part)
    const gate = new Gate(expected, PART_WAIT_MS, this.#clock)
    this.#gates[part] = gate
    return gate
  }
}
