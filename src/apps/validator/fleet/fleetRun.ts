import { isInWindow } from '../../../core/schedule/runWindow.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import type { TakenJob } from '../../../ports/store.ts'
import { fault } from '../../shared/faults.ts'
import { orAborted } from '../../shared/orAborted.ts'
import { within } from '../../shared/within.ts'
import type { BoxReport, Step } from '../verifyBox.ts'
import type { Cohort } from './cohort.ts'
import type { FleetDeps, FleetRules } from './fleet.ts'
import { isOfRelease, judgeFault, kindOfError, type Leftover, resultOfFault, resultOfReport } from './outcomeOf.ts'
import { Stopwatch } from './stopwatch.ts'

/** Of the silence that counts as hanging: whoever ends after so long without being ready has kept us waiting too. */
const WAITED_SHARE = 1 / 4

/** A run whose time seems over is looked at again no sooner; so much a limit may be off, too, since timers are. */
const SOONEST_LOOK_MS = 1_000

/** A few lines a second per run are enough for those who watch. */
const TELL_EVERY_US = 250_000

/** What a run asks of its fleet. */
interface FleetOfRun extends Pick<FleetDeps, 'clock' | 'log' | 'live' | 'verify'> {
  readonly rules: FleetRules
  /** The other box whose prover key this is. */
  keyHolder(job: TakenJob, key: Uint8Array, isSigned: boolean): Promise<string | null>
  /** A box has started our prover in this round. */
  proverStarted(round: number): void
  /** Our prover has not started here: whether it starts anywhere in this round. */
  releaseRuns(run: FleetRun): Promise<boolean>
}

/** One job of a fleet: the run on its box, from the first step to what it leaves behind. */
export class FleetRun {
  readonly job: TakenJob
  readonly cohort: Cohort
  /** When it last showed a step, or null while it is not its turn: it waits for its cohort, or we verify. */
  stepUs: number | null
  /** Has kept us waiting, now or in its last run: it has no place among those at work. */
  stalled: boolean
  /** Nothing more is expected of it but its result. */
  ended = false
  done: Promise<void> = Promise.resolve()
  readonly #fleet: FleetOfRun
  readonly #stop = new AbortController()
  /** While we check its answers, or wait until those of others are checked. */
  readonly #checks: Stopwatch
  /** While it waits for its cohort. */
  readonly #waits: Stopwatch
  readonly #begunUs: number
  #told: { readonly step: Step['step']; readonly atUs: number } | null = null

  constructor(job: TakenJob, cohort: Cohort, fleet: FleetOfRun) {
    this.job = job
    this.cohort = cohort
    this.#begunUs = fleet.clock.monotonicUs()
    this.stepUs = this.#begunUs
    this.stalled = job.box.stalls > 0
    this.#fleet = fleet
    this.#checks = new Stopwatch(fleet.clock)
    this.#waits = new Stopwatch(fleet.clock)
  }

  /**
   * With a fault the box is to blame, unless its own time is within the limit that ran out: then our checks have used it up
   * (attacks 375, 379). Without one its job goes back to the queue.
   */
  stop(reason?: TouchstoneError, limitMs = 0): void {
    const isOurs = !this.stalled && this.#ownMs < limitMs - SOONEST_LOOK_MS
    this.#stop.abort(isOurs ? fault('CHECKS_TOO_SLOW') : reason)
  }

  /** Null when we stopped it ourselves: the box is not to blame. */
  async verify(): Promise<Leftover | null> {
    const { clock } = this.#fleet
    const { signal } = this.#stop
    const startedAt = clock.wallTime().toISOString()
    const startedUs = clock.monotonicUs()
    try {
      const report = await this.#inTime(signal)
      const told = resultOfReport(report, this.#isTogether(report))
      return { told, report, stalled: false }
    } catch (error) {
      if (signal.aborted && !(signal.reason instanceof TouchstoneError)) return null
      const cause = signal.aborted ? signal.reason : error
      return await this.#leftByFault(cause, startedAt, (clock.monotonicUs() - startedUs) / 1e6)
    }
  }

  async #inTime(signal: AbortSignal): Promise<BoxReport> {
    const { job, cohort } = this
    const { clock, verify, rules } = this.#fleet
    const beforeStart: Parameters<typeof verify>[1]['beforeStart'] = async (moment) => {
      this.stepUs = null
      this.#waits.set(this, true)
      await cohort.beforeStart(job.id, moment, signal)
      this.stepUs = clock.monotonicUs()
      this.#waits.set(this, false)
    }
    // Whatever hangs on to the signal or not: its place in the fleet is free when the signal fires.
    const onStep = (step: Step) => this.#onStep(step)
    const takeKey = (key: Uint8Array, isSigned: boolean) => this.#takeKey(key, isSigned)
    const openedBy = (startedUs: number) => cohort.openedBy(job.id, startedUs)
    const running = orAborted(verify(job, { onStep, takeKey, beforeStart, openedBy }, signal), signal)
    // A light look is over in seconds, and the cohort of its box may be waiting for it.
    const limitMs = job.kind === 'light' ? Math.min(rules.startLimitMs, rules.jobLimitMs) : rules.jobLimitMs
    const leftMs = () => limitMs - this.#ownMs - Math.max(0, this.#checks.ms - limitMs)
    while (leftMs() > 0) {
      const report = await within(clock, Math.max(leftMs(), SOONEST_LOOK_MS), running)
      if (report !== null) return report
    }
    this.stop(fault('JOB_TIMEOUT'), limitMs)
    return await running
  }

  /** One machine is one box: who forwards to somebody else's is told so before anything runs there (attack 463). */
  async #takeKey(key: Uint8Array, isSigned: boolean): Promise<void> {
    // Not the time of the box.
    this.#onStep({ step: 'check' })
    const other = await this.#fleet.keyHolder(this.job, key, isSigned)
    this.#onStep({ step: isSigned ? 'calibrate' : 'detect' })
    if (other === null) return
    this.#fleet.log.warn('a box has the prover key of another', { box: this.job.boxId, other })
    throw fault('KEY_OF_ANOTHER_BOX', { other })
  }

  /** Not what it waits for its cohort (attack 128), nor what we take to check its answers (attack 240). */
  get #ownMs(): number {
    return (this.#fleet.clock.monotonicUs() - this.#begunUs) / 1000 - this.#waits.ms - this.#checks.ms
  }

  async #leftByFault(cause: unknown, startedAt: string, seconds: number): Promise<Leftover> {
    const { job, cohort } = this
    const { rules, log, releaseRuns } = this.#fleet
    const keptWaiting = !cohort.isReady(job.id) && this.#ownMs >= rules.stallMs * WAITED_SHARE
    cohort.giveUp(job.id)
    const judged = judgeFault(cause, !isOfRelease(cause) || (await releaseRuns(this)), job.kind)
    if (judged.code === 'UNEXPECTED')
      log.error('a run failed through a fault of this validator', { box: job.boxId, error: kindOfError(cause) })
    const stalled = judged.stalled || keptWaiting
    return { told: resultOfFault(judged, startedAt, seconds), report: null, stalled }
  }

  /** A box alone in its cohort has no window to miss. Who ends when the others have been paid has missed it. */
  #isTogether({ window }: BoxReport): boolean {
    const { job, cohort } = this
    if (job.kind === 'light' || cohort.size === 1 || window === null) return true
    return !cohort.isSettled && isInWindow(window, cohort.openedUs(job.id))
  }

  #onStep(step: Step): void {
    const { clock, live, proverStarted } = this.#fleet
    const { boxId, round } = this.job
    const nowUs = clock.monotonicUs()
    const isOurs = step.step === 'check' || step.step === 'verify'
    this.stepUs = isOurs ? null : nowUs
    this.#checks.set(this, isOurs)
    this.cohort.check(this.job.id, step.step === 'check')
    if (step.step === 'detected') proverStarted(round)
    if (step.step === this.#told?.step && nowUs - this.#told.atUs < TELL_EVERY_US) return
    this.#told = { step: step.step, atUs: nowUs }
    const at = step.step === 'verify' ? step : step.step === 'compute' ? step.progress : null
    live.publish({ type: 'step', boxId, step: step.step, done: at?.done ?? null, of: at?.of ?? null })
  }
}
