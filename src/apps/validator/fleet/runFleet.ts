import { TouchstoneError } from '../../../ports/errors.ts'
import type { Finish, LeasedJob } from '../../../ports/store.ts'
import type { Step } from '../verifyBox.ts'
import { Cohort } from './cohort.ts'
import { finishOf } from './finishOf.ts'
import type { FleetDeps, FleetRules } from './fleet.ts'
import { openRoundIfDue } from './openRound.ts'
import { judgeFault, resultOfFault, resultOfReport } from './outcomeOf.ts'

const DAY_MS = 86_400_000

interface Running {
  readonly job: LeasedJob
  readonly cohort: Cohort
  readonly stop: AbortController
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
    while (!this.#signal.aborted) {
      await this.#tick().then(
        () => this.#storeIsBack(),
        (error) => this.#storeFailed(error),
      )
      if (!this.#signal.aborted) await this.#pause()
    }
    await this.#windDown()
    await beats
  }

  async #tick(): Promise<void> {
    await openRoundIfDue(this.#deps, this.#rules, this.#signal)
    await this.#takeJobs()
    await this.#care()
  }

  /** A cohort is taken whole or not yet: free places wait until it fits. */
  async #takeJobs(): Promise<void> {
    const { store, clock } = this.#deps
    const { owner, leaseMs, concurrency, cohortSize } = this.#rules
    const free = concurrency - this.#running.size
    if (free < Math.min(cohortSize, concurrency)) return
    const jobs = await store.claimJobs({ owner, leaseMs, limit: free })
    const cohorts = new Map<string, Cohort>()
    const groupOf = ({ id, round, cohort, tries }: LeasedJob) => (tries > 0 ? `${id}` : `${round}/${cohort}`)
    for (const job of jobs) {
      const group = groupOf(job)
      const members = jobs.filter((other) => groupOf(other) === group).map(({ id }) => id)
      if (!cohorts.has(group)) cohorts.set(group, new Cohort(members, clock))
    }
    for (const job of jobs) this.#start(job, cohorts.get(groupOf(job))!)
  }

  #start(job: LeasedJob, cohort: Cohort): void {
    const running: Running = { job, cohort, stop: new AbortController(), done: Promise.resolve() }
    this.#running.set(job.id, running)
    this.#deps.metrics.set('touchstone_jobs_running', this.#running.size)
    const { boxId, round, kind } = job
    this.#deps.live.publish({ type: 'started', boxId, round, kind })
    const given = async (error: unknown) => {
      // A stop interrupts the storing of a result; its job goes back to the queue with the others.
      if (this.#ending.signal.aborted) return
      this.#deps.log.error('a job was given up', { box: boxId, error: nameOf(error) })
      await this.#giveUp(job, error)
    }
    running.done = this.#carryOut(running)
      .catch(given)
      .finally(() => {
        cohort.leave(job.id)
        this.#running.delete(job.id)
        this.#deps.metrics.set('touchstone_jobs_running', this.#running.size)
        this.#wake()
      })
  }

  async #carryOut(running: Running): Promise<void> {
    const finish = await this.#verify(running)
    if (finish === null) return
    const resultId = await this.#surely(() => this.#deps.store.finishJob(finish))
    if (resultId === null) return this.#lost(running.job)
    this.#tell(running.job, finish, resultId)
  }

  /** A result that cannot be stored becomes a fault of ours, so that its job ends. */
  async #giveUp(job: LeasedJob, error: unknown): Promise<void> {
    const told = resultOfFault(error, this.#deps.clock.wallTime().toISOString(), 0)
    const finish = await finishOf(job, { ...told, outcome: 'fault' }, null, {
      store: this.#deps.store,
      rules: this.#rules,
    })
    await this.#surely(() => this.#deps.store.finishJob(finish)).catch(() => {})
  }

  #tell(job: LeasedJob, finish: Finish, resultId: number): void {
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
  async #verify({ job, cohort, stop }: Running): Promise<Finish | null> {
    const { clock, verify, store } = this.#deps
    const { signal } = stop
    const startedAt = clock.wallTime().toISOString()
    const startedUs = clock.monotonicUs()
    const timer = new AbortController()
    void clock.sleep(this.#rules.jobLimitMs, timer.signal).then(
      () => stop.abort(tooLong()),
      () => {},
    )
    const hooks = { onStep: this.#telling(job), together: () => cohort.arrive(job.id, signal) }
    const context = { store, rules: this.#rules }
    try {
      // Whatever hangs on to the signal or not: its place in the fleet is free when the signal fires.
      const report = await orAborted(verify(job, hooks, signal), signal)
      return await this.#surely(() => finishOf(job, resultOfReport(report), report, context))
    } catch (error) {
      if (signal.aborted && !(signal.reason instanceof TouchstoneError)) return null
      const cause = signal.aborted ? signal.reason : error
      if (judgeFault(cause).code === 'UNEXPECTED')
        this.#deps.log.error('a run failed for a reason of our own', { box: job.boxId, error: nameOf(error) })
      const seconds = (clock.monotonicUs() - startedUs) / 1e6
      return await finishOf(job, resultOfFault(cause, startedAt, seconds), null, context)
    } finally {
      timer.abort()
    }
  }

  /** A few lines a second per run are enough for those who watch. */
  #telling(job: LeasedJob): (step: Step) => void {
    const { live, clock } = this.#deps
    let last = ''
    let toldUs = 0
    return (step) => {
      const nowUs = clock.monotonicUs()
      if (step.step === last && nowUs - toldUs < 250_000) return
      last = step.step
      toldUs = nowUs
      const at = step.step === 'verify' ? step : step.step === 'compute' ? step.progress : null
      live.publish({ type: 'step', boxId: job.boxId, step: step.step, done: at?.done ?? null, of: at?.of ?? null })
    }
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

  #lost(job: LeasedJob): void {
    this.#deps.metrics.add('touchstone_leases_lost_total')
    this.#deps.log.warn('lease lost: another validator has the job', { box: job.boxId, round: job.round })
  }

  /** Prolongs what we hold three times within a lease; a job that is no longer ours is stopped. */
  async #keepLeases(): Promise<void> {
    const { clock, store } = this.#deps
    const { owner, leaseMs } = this.#rules
    for (;;) {
      await clock.sleep(leaseMs / 3, this.#ending.signal).catch(() => {})
      if (this.#ending.signal.aborted) return
      const held = [...this.#running.values()]
      if (held.length === 0) continue
      const jobs = held.map(({ job: { id, attempt } }) => ({ id, attempt }))
      const ours = await store.extendLeases({ owner, leaseMs, jobs }).catch((error) => this.#storeFailed(error))
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
    await all
    await store.releaseLeases(this.#rules.owner).catch((error) => this.#storeFailed(error))
    log.info('stopped')
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

const tooLong = () =>
  new TouchstoneError(
    { code: 'JOB_TIMEOUT' },
    {
      message: 'the box took longer than any run may',
      blame: 'prover',
      retry: true,
      nextStep: 'Look at the box: it keeps the connection and does not get done.',
    },
  )
