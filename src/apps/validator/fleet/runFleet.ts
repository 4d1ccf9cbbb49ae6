import { toHex } from '../../../core/bytes/hex.ts'
import { LARGEST_COHORT } from '../../../core/schedule/largestCohort.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import type { TakenJob, TakeRequest } from '../../../ports/store.ts'
import { fault } from '../../shared/faults.ts'
import { orAborted } from '../../shared/orAborted.ts'
import { within } from '../../shared/within.ts'
import { Cohort } from './cohort.ts'
import { finishOf } from './finishOf.ts'
import type { FleetDeps, FleetRules } from './fleet.ts'
import { FleetRun } from './fleetRun.ts'
import { openFleetRound } from './openFleetRound.ts'
import { judgeFault, kindOfError, type Leftover, resultOfFault } from './outcomeOf.ts'
import { tellFinish } from './tellFinish.ts'
import { watchRelease } from './watchRelease.ts'

const DAY_MS = 86_400_000

/** So long a stop waits for a store that does not answer, at each of its last steps. */
const STORE_PATIENCE_MS = 5_000

/** Light looks and what was asked for outside a round are cohorts of one. */
const isSingle = ({ kind, cohort }: TakenJob): boolean => kind === 'light' || cohort < 0

/** Keeps a fleet verified until the signal fires: opens rounds, takes jobs, runs them, stores what they leave. */
export function runFleet(deps: FleetDeps, rules: FleetRules, signal: AbortSignal): Promise<void> {
  return new Fleet(deps, rules, signal).run()
}

class Fleet {
  readonly #deps: FleetDeps
  readonly #rules: FleetRules
  readonly #signal: AbortSignal
  /** Fires when a result must no longer wait for the store. */
  readonly #ending = new AbortController()
  readonly #running = new Map<number, FleetRun>()
  readonly #release: ReturnType<typeof watchRelease>
  #wake = () => {}
  #storeDown = false
  #nextRetentionUs = 0

  constructor(deps: FleetDeps, rules: FleetRules, signal: AbortSignal) {
    this.#deps = deps
    this.#rules = rules
    this.#signal = signal
    this.#release = watchRelease(deps.clock)
  }

  async run(): Promise<void> {
    const beats = this.#keepJobs()
    while (!this.#signal.aborted) {
      const tick = this.#tick().then(
        () => this.#storeIsBack(),
        (error) => this.#storeFailed(error),
      )
      await orAborted(tick, this.#signal).catch(() => this.#patiently(tick))
      await this.#pause()
    }
    await this.#windDown()
    await beats
  }

  async #tick(): Promise<void> {
    const { store } = this.#deps
    const last = await store.lastRound()
    // Where a validator ended between the last result of a window and its end.
    if (last && !last.settled) await store.settle(last.number, null)
    await openFleetRound(last, this.#deps, this.#rules, this.#signal)
    this.#setStalledApart()
    await this.#takeJobs()
    await this.#care()
  }

  /** However many boxes hang: they leave their places to others, keep a few of their own, and beyond those are given up. */
  #setStalledApart(): void {
    const beforeUs = this.#deps.clock.monotonicUs() - this.#rules.stallMs * 1000
    const silent = [...this.#running.values()].filter(({ stepUs }) => stepUs !== null && stepUs < beforeUs)
    for (const run of silent) {
      if (!run.stalled) run.cohort.leave(run.job.id)
      run.stalled = true
    }
    const tooMany = Math.max(0, this.#count(({ stalled }) => stalled) - this.#fewPlaces)
    // Before its clock has run it has missed its window; afterwards it must not come off so lightly.
    for (const run of silent.slice(0, tooMany))
      run.stop(run.cohort.isReady(run.job.id) ? fault('BOX_STALLED') : fault('WINDOW_MISSED'))
  }

  #count(which: (run: FleetRun) => boolean): number {
    return [...this.#running.values()].filter(which).length
  }

  /** For boxes that keep us waiting, and again for jobs of one. */
  get #fewPlaces(): number {
    return Math.max(1, Math.floor(this.#rules.concurrency / 4))
  }

  /**
   * A cohort is taken whole or not yet: free places wait until it fits. It may be the whole fleet, so that jobs of one have
   * places of their own: they would keep it out, or wait until all of it is done.
   */
  async #takeJobs(): Promise<void> {
    const { concurrency } = this.#rules
    const few = this.#fewPlaces
    const single = this.#count((run) => !run.stalled && isSingle(run.job))
    const stalled = this.#count((run) => run.stalled)
    const free = concurrency - (this.#running.size - single - stalled)
    if (free > 0) await this.#take({ limit: free, places: LARGEST_COHORT, stalled: false, single: false })
    if (single < few) await this.#take({ limit: few - single, stalled: false, single: true })
    if (stalled < few) await this.#take({ limit: few - stalled, places: few, stalled: true })
  }

  async #take(wanted: Pick<TakeRequest, 'limit' | 'places' | 'stalled' | 'single'>): Promise<void> {
    const { owner, holdMs, startLimitMs } = this.#rules
    const atWork = [...this.#running.keys()]
    const jobs = await this.#deps.store.takeJobs({ owner, holdMs, atWork, ...wanted })
    if (this.#ending.signal.aborted) return
    const groups = new Map<string, TakenJob[]>()
    for (const job of jobs) {
      const group = isSingle(job) ? `${job.id}` : `${job.round}/${job.cohort}`
      groups.set(group, [...(groups.get(group) ?? []), job])
    }
    for (const group of groups.values()) {
      const members = group.map(({ id }) => id)
      const cohort = new Cohort(members, startLimitMs, this.#deps.clock)
      const started = group.map((job) => this.#start(job, cohort))
      // Whoever is not there when the clock of the others starts holds no place any longer.
      void cohort.started.then(() => {
        for (const run of started) if (!cohort.isReady(run.job.id)) run.stop(fault('WINDOW_MISSED'), startLimitMs)
      })
      void cohort.settled.then(() => this.#settle(group))
    }
  }

  /** What was earned in a window counts when all of it is over; one that we stopped ourselves is taken again. */
  async #settle(group: readonly TakenJob[]): Promise<void> {
    const { round, window } = group.find((job) => job.window !== null) ?? group[0]!
    if (window === null || this.#ending.signal.aborted) return
    const earned = await this.#surely(() => this.#deps.store.settle(round, window)).catch(() => null)
    if (earned !== null) this.#deps.log.info('window over', { round, earned })
  }

  #start(job: TakenJob, cohort: Cohort): FleetRun {
    const { metrics, live, log } = this.#deps
    const run = new FleetRun(job, cohort, {
      ...this.#deps,
      rules: this.#rules,
      keyHolder: ({ boxId, box: { moves } }, key, isSigned) =>
        this.#surely(() => this.#deps.store.takeKey({ boxId, moves, key: toHex(key), isSigned })),
      proverStarted: this.#release.started,
      releaseRuns: (ended) => this.#releaseRuns(ended),
    })
    this.#running.set(job.id, run)
    metrics.set('touchstone_jobs_running', this.#running.size)
    const { boxId, round, kind, attempt } = job
    log.info('run started', { box: boxId, round, kind, attempt })
    live.publish({ type: 'started', boxId, round, kind })
    run.done = this.#carryOut(run)
      .catch((error: unknown) => this.#giveUp(run, null, error))
      .finally(() => {
        cohort.leave(job.id)
        this.#running.delete(job.id)
        metrics.set('touchstone_jobs_running', this.#running.size)
        this.#wake()
      })
    return run
  }

  #releaseRuns(run: FleetRun): Promise<boolean> {
    run.stepUs = null
    run.ended = true
    const othersRun = () => [...this.#running.values()].some(({ ended }) => !ended)
    return this.#release.runs(run.job.boxId, run.job.round, othersRun, this.#ending.signal)
  }

  async #carryOut(run: FleetRun): Promise<void> {
    const left = await run.verify()
    if (left !== null) await this.#finish(run, left).catch((error: unknown) => this.#giveUp(run, left.told, error))
  }

  async #finish({ job, cohort }: FleetRun, { told, report, stalled }: Leftover): Promise<void> {
    const { store } = this.#deps
    const context = { store, rules: this.#rules, isAlone: cohort.size === 1, stalled }
    const finish = await this.#surely(() => finishOf(job, told, report, context))
    const stored = await this.#surely(() => store.finishJob(finish))
    if (stored === null) this.#lost(job)
    else tellFinish(job, finish, stored, this.#deps)
  }

  /**
   * A result that cannot be stored becomes a fault of ours, so that its job ends. What was not accepted stays that, without
   * a word of the box in it: else whoever is caught keeps its score by words that no store takes (attack 461).
   */
  async #giveUp(run: FleetRun, told: Leftover['told'] | null, error: unknown): Promise<void> {
    // A stop interrupts the storing of a result; its job goes back to the queue with the others.
    if (this.#ending.signal.aborted) return
    this.#deps.log.error('a job was given up', { box: run.job.boxId, error: kindOfError(error) })
    const { outcome, code } = told ?? { outcome: 'fault', code: null }
    const kept = outcome === 'accepted' ? 'fault' : outcome
    const bare = {
      outcome: kept,
      code: kept === 'fault' ? judgeFault(error).code : (code ?? 'RESULT_REFUSED'),
    } as const
    const startedAt = told?.startedAt ?? this.#deps.clock.wallTime().toISOString()
    const left = { told: resultOfFault(bare, startedAt, told?.seconds ?? 0), report: null, stalled: false }
    await this.#finish(run, left).catch(() => {})
  }

  /** A result is worth minutes of a box's time: it waits here as long as the store is away. */
  async #surely<T>(work: () => Promise<T>): Promise<T> {
    for (let wait = 100; ; wait = Math.min(2 * wait, 5_000)) {
      try {
        return await work()
      } catch (error) {
        // What is refused for good would be refused again for ever.
        if (error instanceof TouchstoneError && !error.retry) throw error
        this.#storeFailed(error)
        await this.#deps.clock.sleep(wait, this.#ending.signal)
      }
    }
  }

  #lost(job: TakenJob): void {
    this.#deps.metrics.add('touchstone_jobs_lost_total')
    this.#deps.log.warn('job lost: another validator has taken it', { box: job.boxId, round: job.round })
  }

  /** Asks to keep our jobs three times within `holdMs`; a job that is no longer ours is stopped. */
  async #keepJobs(): Promise<void> {
    const { clock, store } = this.#deps
    const { owner, holdMs } = this.#rules
    for (;;) {
      await clock.sleep(holdMs / 3, this.#ending.signal).catch(() => {})
      if (this.#ending.signal.aborted) return
      const held = [...this.#running.values()]
      if (held.length === 0) continue
      const jobs = held.map(({ job: { id, attempt } }) => ({ id, attempt }))
      const extended = orAborted(store.keepJobs({ owner, holdMs, jobs }), this.#ending.signal)
      const ours = await extended.catch((error) => this.#storeFailed(error))
      if (this.#ending.signal.aborted) return
      if (!ours) continue
      for (const run of held)
        if (!ours.includes(run.job.id) && this.#running.has(run.job.id)) {
          this.#lost(run.job)
          run.stop()
        }
    }
  }

  async #care(): Promise<void> {
    const { store, clock, metrics, log } = this.#deps
    const { waiting, lagSeconds } = await store.queue()
    metrics.set('touchstone_jobs_waiting', waiting)
    metrics.set('touchstone_queue_lag_seconds', lagSeconds)
    const nowUs = clock.monotonicUs()
    if (nowUs < this.#nextRetentionUs) return
    this.#nextRetentionUs = nowUs + DAY_MS * 1000
    log.info('retention', await store.retain(this.#rules.retention))
  }

  async #pause(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await within(this.#deps.clock, this.#rules.pollMs, woken, this.#signal)
  }

  /** Runs under way get their grace, then end; what they held goes back to the queue. */
  async #windDown(): Promise<void> {
    const { clock, log, store } = this.#deps
    const under = [...this.#running.values()]
    log.info('stopping', { running: under.length })
    const all = Promise.all(under.map(({ done }) => done.catch(() => {})))
    await within(clock, this.#rules.graceMs, all)
    this.#ending.abort()
    for (const run of under) run.stop()
    await this.#patiently(all)
    await this.#patiently(store.releaseJobs(this.#rules.owner).catch((error) => this.#storeFailed(error)))
    log.info('stopped')
  }

  /** For the last words with the store: one that never answers must not keep us from stopping (attack 111). */
  #patiently(work: Promise<unknown>): Promise<unknown> {
    return within(this.#deps.clock, STORE_PATIENCE_MS, work)
  }

  #storeFailed(error: unknown): void {
    if (this.#signal.aborted && error === this.#signal.reason) return
    this.#deps.metrics.add('touchstone_store_errors_total')
    if (!this.#storeDown) this.#deps.log.error('the store does not answer; trying again', { error: kindOfError(error) })
    this.#storeDown = true
  }

  #storeIsBack(): void {
    if (this.#storeDown) this.#deps.log.info('the store answers again')
    this.#storeDown = false
  }
}
