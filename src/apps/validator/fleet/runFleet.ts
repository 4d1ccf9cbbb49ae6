import { isInWindow } from '../../../core/schedule/runWindow.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import type { Finish, TakenJob, TakeRequest } from '../../../ports/store.ts'
import { fault } from '../../shared/faults.ts'
import type { BoxReport, Step } from '../verifyBox.ts'
import { Cohort } from './cohort.ts'
import { finishOf } from './finishOf.ts'
import type { FleetDeps, FleetRules, VerifyJob } from './fleet.ts'
import { openFleetRound } from './openFleetRound.ts'
import { isOfRelease, judgeFault, resultOfFault, resultOfReport } from './outcomeOf.ts'

const DAY_MS = 86_400_000

/** How long a box where our prover did not start waits for another to show that it can. */
const RELEASE_WAIT_MS = 60_000

/** So long a stop waits for a store that does not answer, at each of its last steps. */
const STORE_PATIENCE_MS = 5_000

/** Of the silence that counts as hanging: whoever ends after so long without being ready has kept us waiting too. */
const WAITED_SHARE = 1 / 4

interface Running {
  readonly job: TakenJob
  readonly cohort: Cohort
  readonly stop: AbortController
  /** When it last showed a step, or null while it is not its turn: it waits for its cohort, or we verify. */
  stepUs: number | null
  /** Has kept us waiting, now or in its last run: it has no place among those at work. */
  stalled: boolean
  /** Nothing more is expected of it but its result. */
  ended: boolean
  done: Promise<void>
}

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
  readonly #running = new Map<number, Running>()
  /** The last round in which a box has started our prover, and the boxes where it did not start since. */
  #startedRound = -1
  readonly #notStarted = new Set<string>()
  #wake = () => {}
  #storeDown = false
  #nextRetentionUs = 0

  constructor(deps: FleetDeps, rules: FleetRules, signal: AbortSignal) {
    this.#deps = deps
    this.#rules = rules
    this.#signal = signal
  }

  async run(): Promise<void> {
    const beats = this.#keepLeases()
    signalOnce(this.#signal, () => this.#wake())
    const stopped = new Promise<void>((resolve) => signalOnce(this.#signal, resolve))
    while (!this.#signal.aborted) {
      const tick = this.#tick().then(
        () => this.#storeIsBack(),
        (error) => this.#storeFailed(error),
      )
      await Promise.race([tick, stopped.then(() => this.#patiently(tick))])
      if (!this.#signal.aborted) await this.#pause()
    }
    await this.#windDown()
    await beats
  }

  async #tick(): Promise<void> {
    await openFleetRound(this.#deps, this.#rules, this.#signal)
    this.#setStalledApart()
    await this.#takeJobs()
    await this.#care()
  }

  /** A cohort is taken whole or not yet: free places wait until it fits. */
  async #takeJobs(): Promise<void> {
    const { concurrency, cohortSize } = this.#rules
    const stalled = this.#stalledOnes().length
    const free = concurrency - (this.#running.size - stalled)
    const slow = this.#stalledPlaces()
    if (free >= Math.min(cohortSize, concurrency))
      await this.#take({ limit: free, places: concurrency, stalled: false })
    if (stalled < slow) await this.#take({ limit: slow - stalled, places: slow, stalled: true })
  }

  async #take(wanted: Pick<TakeRequest, 'limit' | 'places' | 'stalled'>): Promise<void> {
    const { owner, holdMs, startLimitMs } = this.#rules
    const jobs = await this.#deps.store.takeJobs({ owner, holdMs, ...wanted })
    if (this.#ending.signal.aborted) return
    const groups = new Map<string, TakenJob[]>()
    for (const job of jobs) {
      // Light looks and what was asked for outside a round are cohorts of one.
      const group = job.kind === 'full' && job.cohort >= 0 ? `${job.round}/${job.cohort}` : `${job.id}`
      groups.set(group, [...(groups.get(group) ?? []), job])
    }
    for (const group of groups.values()) {
      const members = new Map(group.map(({ id, boxId }) => [id, boxId] as const))
      const cohort = new Cohort(members, startLimitMs, this.#deps.clock)
      const started = group.map((job) => this.#start(job, cohort))
      // Whoever is not there when the clock of the others starts holds no place any longer.
      void cohort.started.then(() => {
        for (const { job, stop } of started) if (!cohort.isReady(job.id)) stop.abort(fault('WINDOW_MISSED'))
      })
    }
  }

  #stalledOnes = (): Running[] => [...this.#running.values()].filter(({ stalled }) => stalled)

  #stalledPlaces = (): number => Math.max(1, Math.floor(this.#rules.concurrency / 4))

  /** However many boxes hang: they leave their places to others, keep a few of their own, and beyond those are given up. */
  #setStalledApart(): void {
    const beforeUs = this.#deps.clock.monotonicUs() - this.#rules.stallMs * 1000
    const silent = ({ stepUs }: Running) => stepUs !== null && stepUs < beforeUs
    for (const running of this.#running.values())
      if (!running.stalled && silent(running)) {
        running.stalled = true
        running.cohort.leave(running.job.id)
      }
    const stalled = this.#stalledOnes().filter(silent)
    // Before its clock has run it has missed its window; afterwards it must not come off so lightly.
    for (const { stop, cohort, job } of stalled.slice(
      0,
      Math.max(0, this.#stalledOnes().length - this.#stalledPlaces()),
    ))
      stop.abort(cohort.isReady(job.id) ? fault('BOX_STALLED') : fault('WINDOW_MISSED'))
  }

  #start(job: TakenJob, cohort: Cohort): Running {
    const stepUs = this.#deps.clock.monotonicUs()
    const stalled = job.box.stalls > 0
    const running: Running = {
      job,
      cohort,
      stop: new AbortController(),
      stepUs,
      stalled,
      ended: false,
      done: Promise.resolve(),
    }
    this.#running.set(job.id, running)
    this.#deps.metrics.set('touchstone_jobs_running', this.#running.size)
    const { boxId, round, kind } = job
    this.#deps.live.publish({ type: 'started', boxId, round, kind })
    const given = async (error: unknown) => {
      // A stop interrupts the storing of a result; its job goes back to the queue with the others.
      if (this.#ending.signal.aborted) return
      this.#deps.log.error('a job was given up', { box: boxId, error: nameOf(error) })
      await this.#giveUp(running, error)
    }
    running.done = this.#carryOut(running)
      .catch(given)
      .finally(() => {
        cohort.leave(job.id)
        this.#running.delete(job.id)
        this.#deps.metrics.set('touchstone_jobs_running', this.#running.size)
        this.#wake()
      })
    return running
  }

  async #carryOut(running: Running): Promise<void> {
    const finish = await this.#verify(running)
    if (finish === null) return
    const resultId = await this.#surely(() => this.#deps.store.finishJob(finish))
    if (resultId === null) return this.#lost(running.job)
    this.#tell(running.job, finish, resultId)
  }

  /** A result that cannot be stored becomes a fault of ours, so that its job ends. */
  async #giveUp({ job, cohort }: Running, error: unknown): Promise<void> {
    const fault = { outcome: 'fault', code: judgeFault(error).code } as const
    const told = resultOfFault(fault, this.#deps.clock.wallTime().toISOString(), 0)
    const finish = await finishOf(job, told, null, {
      store: this.#deps.store,
      rules: this.#rules,
      cohort: cohort.mates(job.id),
    })
    await this.#surely(() => this.#deps.store.finishJob(finish)).catch(() => {})
  }

  #tell(job: TakenJob, finish: Finish, resultId: number): void {
    const { outcome, code, seconds, claimVerdict } = finish.result
    const { metrics, log, live } = this.#deps
    metrics.add('touchstone_jobs_total', { kind: job.kind, outcome })
    metrics.observe('touchstone_run_seconds', seconds, { kind: job.kind })
    if (outcome === 'rejected') metrics.add('touchstone_rejections_total', { code: code ?? 'none' })
    else if (outcome !== 'accepted') metrics.add('touchstone_faults_total', { code: code ?? 'none' })
    const fields = { box: job.boxId, round: job.round, kind: job.kind, attempt: job.attempt, outcome, code }
    const told = { ...fields, claimVerdict, score: finish.box.score, seconds }
    if (outcome !== 'accepted') log.warn('box not verified', told)
    else if (claimVerdict === null || claimVerdict === 'matches') log.info('box verified', told)
    else log.warn('box is not as claimed', told)
    for (const { what } of finish.result.marks) log.warn('box changed', { box: job.boxId, what })
    const { boxId, round, kind } = job
    const { score } = finish.box
    live.publish({ type: 'finished', boxId, round, kind, outcome, code, claimVerdict, score, resultId })
  }

  /** Null when we stopped it ourselves: the box is not to blame, and the job goes back to the queue. */
  async #verify(running: Running): Promise<Finish | null> {
    const { job, cohort, stop } = running
    const { clock, verify, store } = this.#deps
    const { signal } = stop
    const startedAt = clock.wallTime().toISOString()
    const startedUs = clock.monotonicUs()
    const timer = new AbortController()
    // A light look is over in seconds, and the cohort of its box may be waiting for it.
    const { jobLimitMs, startLimitMs } = this.#rules
    const limitMs = job.kind === 'light' ? Math.min(startLimitMs, jobLimitMs) : jobLimitMs
    void clock.sleep(limitMs, timer.signal).then(
      () => stop.abort(fault('JOB_TIMEOUT')),
      () => {},
    )
    const hooks: Parameters<VerifyJob>[1] = {
      onStep: this.#telling(running),
      beforeStart: async (part, challenge) => {
        running.stepUs = null
        await cohort.beforeStart(job.id, part, challenge, signal)
        running.stepUs = clock.monotonicUs()
      },
    }
    const context = () => ({ store, rules: this.#rules, cohort: cohort.mates(job.id) })
    try {
      // Whatever hangs on to the signal or not: its place in the fleet is free when the signal fires.
      const report = await orAborted(verify(job, hooks, signal), signal)
      return await this.#surely(() =>
        finishOf(job, resultOfReport(report, isTogether(running, report)), report, context()),
      )
    } catch (error) {
      if (signal.aborted && !(signal.reason instanceof TouchstoneError)) return null
      const cause = signal.aborted ? signal.reason : error
      const seconds = (clock.monotonicUs() - startedUs) / 1e6
      const keptWaiting = !cohort.isReady(job.id) && seconds * 1000 >= this.#rules.stallMs * WAITED_SHARE
      cohort.leave(job.id)
      const judged = judgeFault(cause, !isOfRelease(cause) || (await this.#releaseRuns(running)), job.kind)
      if (judged.code === 'UNEXPECTED')
        this.#deps.log.error('a run failed through a fault of this validator', { box: job.boxId, error: nameOf(error) })
      const stalled = judged.stalled || keptWaiting
      return await finishOf(job, resultOfFault(judged, startedAt, seconds), null, { ...context(), stalled })
    } finally {
      timer.abort()
    }
  }

  #proverStarted(round: number): void {
    this.#startedRound = Math.max(this.#startedRound, round)
    this.#notStarted.clear()
  }

  /** A few lines a second per run are enough for those who watch. */
  #telling(running: Running): (step: Step) => void {
    const { live, clock } = this.#deps
    const { job } = running
    let last = ''
    let toldUs = 0
    return (step) => {
      const nowUs = clock.monotonicUs()
      running.stepUs = step.step === 'verify' ? null : nowUs
      if (step.step === 'detected') this.#proverStarted(job.round)
      if (step.step === last && nowUs - toldUs < 250_000) return
      last = step.step
      toldUs = nowUs
      const at = step.step === 'verify' ? step : step.step === 'compute' ? step.progress : null
      live.publish({ type: 'step', boxId: job.boxId, step: step.step, done: at?.done ?? null, of: at?.of ?? null })
    }
  }

  /**
   * Whether our prover starts anywhere in this round; those under way are waited for. One box alone cannot say that it is
   * broken, or that box would never fail.
   */
  async #releaseRuns(running: Running): Promise<boolean> {
    const { boxId, round } = running.job
    const { clock } = this.#deps
    this.#notStarted.add(boxId)
    running.stepUs = null
    running.ended = true
    const untilUs = clock.monotonicUs() + RELEASE_WAIT_MS * 1000
    const isOpen = () => this.#startedRound < round && [...this.#running.values()].some(({ ended }) => !ended)
    while (isOpen() && clock.monotonicUs() < untilUs) await clock.sleep(250, this.#ending.signal)
    return this.#startedRound >= round || this.#notStarted.size < 2
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
    this.#deps.metrics.add('touchstone_leases_lost_total')
    this.#deps.log.warn('job lost: another validator has taken it', { box: job.boxId, round: job.round })
  }

  /** Asks to keep our jobs three times within `holdMs`; a job that is no longer ours is stopped. */
  async #keepLeases(): Promise<void> {
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
      for (const { job, stop } of held)
        if (!ours.includes(job.id) && this.#running.has(job.id)) {
          this.#lost(job)
          stop.abort()
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
    const timer = new AbortController()
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await Promise.race([woken, this.#deps.clock.sleep(this.#rules.pollMs, timer.signal).catch(() => {})])
    timer.abort()
  }

  /** Runs under way get their grace, then end; what they held goes back to the queue. */
  async #windDown(): Promise<void> {
    const { clock, log, store } = this.#deps
    const under = [...this.#running.values()]
    log.info('stopping', { running: under.length })
    const timer = new AbortController()
    const all = Promise.all(under.map(({ done }) => done.catch(() => {})))
    await Promise.race([all, clock.sleep(this.#rules.graceMs, timer.signal).catch(() => {})])
    timer.abort()
    this.#ending.abort()
    for (const { stop } of under) stop.abort()
    await this.#patiently(all)
    await this.#patiently(store.releaseJobs(this.#rules.owner).catch((error) => this.#storeFailed(error)))
    log.info('stopped')
  }

  /** For the last words with the store: one that never answers must not keep us from stopping (attack 111). */
  async #patiently(work: Promise<unknown>): Promise<void> {
    const timer = new AbortController()
    await Promise.race([work, this.#deps.clock.sleep(STORE_PATIENCE_MS, timer.signal).catch(() => {})])
    timer.abort()
  }

  #storeFailed(error: unknown): void {
    if (this.#signal.aborted && error === this.#signal.reason) return
    this.#deps.metrics.add('touchstone_store_errors_total')
    if (!this.#storeDown) this.#deps.log.error('the store does not answer; trying again', { error: nameOf(error) })
    this.#storeDown = true
  }

  #storeIsBack(): void {
    if (this.#storeDown) this.#deps.log.info('the store answers again')
    this.#storeDown = false
  }
}

const signalOnce = (signal: AbortSignal, then: () => void) => signal.addEventListener('abort', then, { once: true })

/** Rejects when the signal fires, though the work may still be letting go. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** The kind of an error, never its words. */
function nameOf(error: unknown): string {
  if (error instanceof TouchstoneError) return error.detail.code
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return String(code ?? name ?? 'unknown')
}

/** A box alone in its cohort has no window to miss. */
function isTogether({ job, cohort }: Running, { window }: BoxReport): boolean {
  if (job.kind === 'light' || cohort.mates(job.id).mates.length === 0 || window === null) return true
  return isInWindow(window, cohort.openedUs)
}
