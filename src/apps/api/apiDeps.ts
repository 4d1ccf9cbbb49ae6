import type { Context } from 'hono'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { ScoreConfig } from '../../core/score/scoreConfig.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LiveRuns } from '../../ports/liveRuns.ts'
import type { Log } from '../../ports/log.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Store } from '../../ports/store.ts'
import type { PageFile } from './addPageRoutes.ts'

export interface ApiDeps {
  readonly store: Store
  readonly live: LiveRuns
  readonly metrics: Metrics
  readonly log: Log
  readonly clock: Clock
  readonly decay: ScoreConfig['decay']
  /** What a claim may name. */
  readonly catalogue: Catalogue
  /** Hex key of this validator: a signed request names it. */
  readonly self: string
  /** Hex keys whose signed requests may write; none: the API is read-only. */
  readonly writers: readonly string[]
  readonly requestsPerMinute: number
  readonly program: string
  /** The files of the page at /check, by name. */
  readonly pages?: ReadonlyMap<string, PageFile>
  /** Copies the store into a file of the validator's own choosing. */
  backup?(): Promise<{ readonly file: string; readonly rows: number }>
  /** The one spelling of where a box is; throws where that is nowhere, or this machine and may not be. */
  addressOf(box: { readonly id: string; readonly address: string }): Promise<string>
  /** Calls `done` when the answer was taken or the asker is gone. */
  whenSent(context: Context, done: () => void): void
  /** Who asks, for the rate limit: the address of the connection, never a header the asker sets. */
  clientOf(context: Context): string
}
