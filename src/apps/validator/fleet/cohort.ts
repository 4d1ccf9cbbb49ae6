import { partRole } from '../../../core/certificate/partRole.ts'
import type { Challenge } from '../../../core/proof/challenge.ts'
import type { CohortOpenings } from '../../../core/schedule/runWindow.ts'
import type { Clock } from '../../../ports/clock.ts'
import { TouchstoneError } from '../../../ports/errors.ts'

/** Longest from the first part of a cohort to its sustained one: who is first there waits no longer for the others. */
export const SUSTAINED_LIMIT_MS = 120_000

/** Opens once, for those who have arrived: when all have, or at its time. Who comes later does not pass. */
class Gate {
  readonly #clock: Clock
  readonly #expected: Set<number>
  readonly #timer = new AbortController()
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
    clock.sleep(limitMs, this.#timer.signal).then(
      () => this.#release(),
      () => {},
    )
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
    this.#timer.abort()
    this.openedUs = this.#clock.monotonicUs()
    this.#open()
  }
}

/**
 * Boxes that are measured in one window (§8): the clock of all of them starts at the same moment, for their first part and
 * again for their sustained one, so that a card lent to two of them cannot serve one after the other.
 */
export class Cohort {
  readonly #members: ReadonlyMap<number, string>
  readonly #first: Gate
  #sustained: Gate | null = null

  /** By job, the box. `limitMs` is the time from taking the jobs to T0. */
  constructor(members: ReadonlyMap<number, string>, limitMs: number, clock: Clock) {
    this.#members = members
    this.#first = new Gate(members.keys(), limitMs, clock)
    void this.#first.opened.then(() => {
      this.#sustained = new Gate(this.#first.passed, SUSTAINED_LIMIT_MS, clock)
    })
  }

  /** Fulfilled when the first part may begin; only then is it known who is late. */
  get started(): Promise<void> {
    return this.#first.opened
  }

  /** Whether it stands at the first gate or has gone through it. */
  isReady(job: number): boolean {
    return this.#first.passed.has(job)
  }

  /** Before a part of a run. Who comes to the first gate too late is told so; at the second the window says it. */
  async beforeStart(job: number, part: number, challenge: Challenge, signal: AbortSignal): Promise<void> {
    if (part === 0) {
      if (!this.#first.arrive(job)) throw windowMissed()
      await this.#through(this.#first, signal)
      if (!challenge.parts.some((_, p) => partRole(challenge, p) === 'sustained')) this.#sustained?.leave(job)
    } else if (partRole(challenge, part) === 'sustained' && this.#sustained?.arrive(job))
      await this.#through(this.#sustained, signal)
  }

  leave(job: number): void {
    this.#first.leave(job)
    this.#sustained?.leave(job)
  }

  /** Null while the first part has not begun. */
  get openings(): CohortOpenings | null {
    const firstUs = this.#first.openedUs
    return firstUs === null ? null : { firstUs, sustainedUs: this.#sustained?.openedUs ?? null }
  }

  /** The other boxes of the cohort, and those of them that went through the same last gate. */
  mates(job: number): { readonly mates: readonly string[]; readonly together: readonly string[] } {
    const others = [...this.#members.keys()].filter((other) => other !== job)
    const gate = this.#sustained?.passed.has(job) ? this.#sustained : this.#first
    const together = gate.passed.has(job) ? others.filter((other) => gate.passed.has(other)) : []
    const named = (jobs: readonly number[]) => jobs.map((other) => this.#members.get(other)!)
    return { mates: named(others), together: named(together) }
  }

  async #through({ opened }: Gate, signal: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([opened, ended])
    signal.throwIfAborted()
  }
}

export const windowMissed = () =>
  new TouchstoneError(
    { code: 'WINDOW_MISSED' },
    {
      message: 'the box was not ready when its cohort started',
      blame: 'prover',
      retry: true,
      nextStep: 'Look at the box: it takes too long to start. The next window is tried; the second miss is a failure.',
    },
  )
