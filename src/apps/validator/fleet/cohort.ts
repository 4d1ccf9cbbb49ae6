import { slotLimitMs, slotsOf } from '../../../core/proof/slotOf.ts'
import type { Clock } from '../../../ports/clock.ts'
import { fault } from '../../shared/faults.ts'
import { orAborted } from '../../shared/orAborted.ts'
import { within } from '../../shared/within.ts'
import type { Moment } from '../verifyBox.ts'
import { Stopwatch } from './stopwatch.ts'

/** So long, over all parts of a run together, a box may keep the others of its cohort waiting (attack 128). */
const LATE_MS = 40_000

/** So long a cohort waits for late boxes in all, however many they are: with start and run it stays below a lease. */
const ALL_LATE_MS = 7 * LATE_MS

/** A start that is put off is looked at again no sooner. */
const SOONEST_LOOK_MS = 1_000

/** Opens once, for those who have arrived. Who comes later does not pass. */
class Gate {
  readonly #clock: Clock
  readonly #expected: Set<number>
  readonly passed = new Set<number>()
  openedUs: number | null = null
  #open = () => {}
  readonly opened: Promise<void>

  constructor(members: Iterable<number>, clock: Clock) {
    this.#clock = clock
    this.#expected = new Set(members)
    this.opened = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  /** False: it was opened without this one. */
  arrive(member: number): boolean {
    if (this.openedUs !== null) return this.passed.has(member)
    this.passed.add(member)
    this.#unexpect(member)
    return true
  }

  leave(member: number): void {
    if (this.openedUs === null) this.passed.delete(member)
    this.#unexpect(member)
  }

  release(): void {
    if (this.openedUs !== null) return
    this.openedUs = this.#clock.monotonicUs()
    this.#open()
  }

  #unexpect(member: number): void {
    this.#expected.delete(member)
    if (this.#expected.size === 0) this.release()
  }
}

interface Member {
  /** Of the phases of its parts, one after the other, once they are known. */
  slots: readonly number[]
  /** The gate that it has come to last, or gone through. */
  at: number
  gone: boolean
  /** What is left of the time that it may keep others waiting. */
  leftMs: number
  /** While others wait for it. */
  late: { readonly fromUs: number; readonly came: AbortController } | null
  /** What its run leaves behind is stored, or it has been silent for so long that the others do not wait for it. */
  ended: boolean
}

const newMember = (): Member => ({ slots: [], at: -1, gone: false, leftMs: LATE_MS, late: null, ended: false })

/**
 * Boxes that are measured in one window (§8): the clock of every part starts for all of them at the same moment, and so do
 * the passes over their memory. So a card lent to two of them cannot serve one after the other.
 */
export class Cohort {
  readonly #members: ReadonlyMap<number, Member>
  readonly #clock: Clock
  readonly #start: Gate
  /** By slot. */
  readonly #gates = new Map<number, Gate>()
  /** Slots that whoever is still in them should have done. */
  readonly #overdue = new Set<number>()
  readonly #over = new AbortController()
  /** While any are waited for. */
  readonly #late: Stopwatch
  /** While we check what any have calibrated, or they wait until that of others is checked. */
  readonly #checks: Stopwatch

  #settle = () => {}
  /** Fulfilled when what all runs leave behind is stored, but for those that are not waited for. */
  readonly settled: Promise<void>
  isSettled = false

  /** `limitMs` is the time from taking the jobs to T0. */
  constructor(jobs: readonly number[], limitMs: number, clock: Clock) {
    this.#members = new Map(jobs.map((job) => [job, newMember()]))
    this.#clock = clock
    this.#start = new Gate(jobs, clock)
    this.#late = new Stopwatch(clock)
    this.#checks = new Stopwatch(clock)
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    void this.#awaitStart(limitMs)
  }

  /**
   * The limit does not run while we check: that is no box's time (attack 356). The start is put off for as long as the
   * cohort may wait for late boxes, and that time is then gone: the whole of it stays below a lease.
   */
  async #awaitStart(limitMs: number): Promise<void> {
    const opened = (ms: number) => within(this.#clock, ms, this.#start.opened)
    await opened(limitMs)
    const leftMs = () => Math.min(ALL_LATE_MS, this.#checks.ms) - this.#late.ms
    this.#late.set(this, true)
    while (this.#start.openedUs === null && leftMs() > 0) await opened(Math.max(leftMs(), SOONEST_LOOK_MS))
    this.#late.set(this, false)
    this.#start.release()
  }

  /** Whether we check what it has calibrated. */
  check(job: number, isChecked: boolean): void {
    this.#checks.set(job, isChecked && !this.#members.get(job)!.gone)
  }

  /** Fulfilled when the first part may begin; only then is it known who is late. */
  get started(): Promise<void> {
    return this.#start.opened
  }

  /** Whether it stands at the start or has gone through it. */
  isReady(job: number): boolean {
    return this.#start.passed.has(job)
  }

  /** Before a phase of a run. Who comes to the start too late is told so; later the window says it. */
  async beforeStart(job: number, { part, phase, challenge }: Moment, signal: AbortSignal): Promise<void> {
    const member = this.#members.get(job)!
    member.slots = challenge.parts.flatMap((_, p) => slotsOf(challenge.parts, p))
    if (!this.#start.arrive(job)) throw fault('WINDOW_MISSED')
    await orAborted(this.started, signal)
    const gate = this.#comeTo(job, member, slotsOf(challenge.parts, part)[phase]!)
    if (gate) await orAborted(gate.opened, signal)
  }

  get size(): number {
    return this.#members.size
  }

  leave(job: number): void {
    this.#members.get(job)!.ended = true
    this.isSettled = [...this.#members.values()].every(({ ended }) => ended)
    if (this.isSettled) this.#settle()
    this.giveUp(job)
  }

  /** No part waits for it again. Its run may count all the same. */
  giveUp(job: number): void {
    const member = this.#members.get(job)!
    member.gone = true
    this.check(job, false)
    this.#stopWaitingFor(member)
    for (const gate of [this.#start, ...this.#gates.values()]) gate.leave(job)
    if ([...this.#members.values()].every(({ gone }) => gone)) this.#over.abort()
  }

  /** When each phase of this job was begun by all that have it; null where it was not there: it ran beside nobody then. */
  openedUs(job: number): readonly (number | null)[] {
    const gates = this.#members.get(job)!.slots.map((slot) => this.#gates.get(slot))
    return gates.map((gate) => (gate?.passed.has(job) ? gate.openedUs : null))
  }

  /** When the last phase of this job was opened before a moment; that moment, where none was. */
  openedBy(job: number, atUs: number): number {
    return this.openedUs(job).findLast((openedUs) => openedUs !== null && openedUs <= atUs) ?? atUs
  }

  /** Null where there is nothing to wait for: it is late, or has been here before and runs anew. */
  #comeTo(job: number, member: Member, slot: number): Gate | null {
    if (slot <= member.at) return null
    member.at = slot
    this.#stopWaitingFor(member)
    this.#findLate()
    const gate = this.#gates.get(slot) ?? this.#openGate(slot)
    const inTime = gate.arrive(job)
    for (const [before, passed] of this.#gates) if (before < slot) passed.leave(job)
    return inTime ? gate : null
  }

  /** A part is waited for by all who go on, and have come no further: who does not have it comes to a later one. */
  #openGate(slot: number): Gate {
    const goOn = [...this.#members].filter(([job, { gone, at, slots }]) => {
      return !gone && this.isReady(job) && at <= slot && slots.some((later) => later >= slot)
    })
    const gate = new Gate(
      goOn.map(([job]) => job),
      this.#clock,
    )
    this.#gates.set(slot, gate)
    void gate.opened.then(() => this.#expectEnd(slot))
    return gate
  }

  async #expectEnd(slot: number): Promise<void> {
    await this.#clock.sleep(slotLimitMs(slot), this.#over.signal).catch(() => {})
    this.#overdue.add(slot)
    this.#findLate()
  }

  /** By our own time, not by that of the first: one that is done in no time must not make the others late. */
  #findLate(): void {
    const furthest = Math.max(...[...this.#members.values()].map(({ gone, at }) => (gone ? -1 : at)))
    for (const [job, { at }] of this.#members) if (this.#overdue.has(at) && at < furthest) this.#waitFor(job)
  }

  #waitFor(job: number): void {
    const member = this.#members.get(job)!
    if (member.gone || member.late) return
    const came = new AbortController()
    const fromUs = this.#clock.monotonicUs()
    member.late = { fromUs, came }
    this.#late.set(member, true)
    const allLeftMs = ALL_LATE_MS - this.#late.ms
    void this.#clock.sleep(Math.max(0, Math.min(member.leftMs, allLeftMs)), came.signal).then(
      () => this.giveUp(job),
      () => {},
    )
  }

  #stopWaitingFor(member: Member): void {
    if (!member.late) return
    member.leftMs -= (this.#clock.monotonicUs() - member.late.fromUs) / 1000
    member.late.came.abort()
    member.late = null
    this.#late.set(member, false)
  }
}
