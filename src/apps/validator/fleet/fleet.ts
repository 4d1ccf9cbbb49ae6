import type { BoxRules } from '../../../core/schedule/boxState.ts'
import type { RetryRules } from '../../../core/schedule/retryDelay.ts'
import type { ScoreConfig } from '../../../core/score/scoreConfig.ts'
import type { BlockHeight } from '../../../ports/blockHeight.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LiveRuns } from '../../../ports/liveRuns.ts'
import type { Log } from '../../../ports/log.ts'
import type { Metrics } from '../../../ports/metrics.ts'
import type { Randomness } from '../../../ports/randomness.ts'
import type { Retention, Store, TakenJob } from '../../../ports/store.ts'
import type { BoxReport, VerifyDeps } from '../verifyBox.ts'

/** How one job is carried out: connect to its box and prove what its kind asks. */
export type VerifyJob = (
  job: TakenJob,
  hooks: Required<Pick<VerifyDeps, 'onStep' | 'takeKey' | 'beforeStart' | 'openedBy'>>,
  signal: AbortSignal,
) => Promise<BoxReport>

export interface FleetDeps {
  readonly store: Store
  readonly clock: Clock
  readonly randomness: Randomness
  readonly log: Log
  readonly metrics: Metrics
  readonly live: LiveRuns
  readonly verify: VerifyJob
  /** Null: rounds go by time. */
  readonly chain: BlockHeight | null
}

export interface FleetRules {
  /** Names this process among several on one store. */
  readonly owner: string
  /** Without a chain a round is opened when none was for so long. */
  readonly roundEveryMs: number
  readonly blocksPerRound: number
  readonly maxDelayMs: number
  readonly probes: boolean
  readonly cohortSize: number
  /** Boxes of cohorts at work at once; at least one cohort. A quarter as many that keep us waiting, and as many jobs of one, have places of their own. */
  readonly concurrency: number
  readonly holdMs: number
  /** Longest from taking a job to the start of its clock; who takes longer misses the window of its cohort. */
  readonly startLimitMs: number
  /** A box that shows no step for so long gives up its place among those at work. */
  readonly stallMs: number
  /** Whatever a box does, it holds a place no longer than this. */
  readonly jobLimitMs: number
  /** How long runs under way may go on after a stop was asked. */
  readonly graceMs: number
  readonly pollMs: number
  readonly retries: RetryRules
  readonly box: BoxRules
  readonly score: ScoreConfig
  readonly retention: Retention
}
