import type { ClaimAnswer } from '../core/identify/claimReasons.ts'
import type { Inventory } from '../core/inventory/inventory.ts'
import type { BoxStatus, Outcome } from '../core/schedule/boxState.ts'
import type { HistoryNote } from '../core/schedule/changesOf.ts'
import type { FleetBox, PlannedJob } from '../core/schedule/planFleetRound.ts'
import type { ScoreTerm } from '../core/score/scoreBox.ts'

/** A machine the operator wants verified. `allocated` is the operator's or the market's word, never the box's. */
export interface BoxEntry {
  readonly id: string
  readonly address: string
  readonly provider: string
  readonly claim: string | null
  readonly allocated: boolean
}

/** What is known of a box now. */
export interface BoxRecord extends BoxEntry {
  readonly addedAt: string
  readonly status: BoxStatus
  /** What the latest full run says of `claim`; null while none has. */
  readonly claimVerdict: ClaimAnswer | null
  /** Points when they were earned; what they are worth today is `scoreAt`. */
  readonly score: number
  readonly terms: readonly ScoreTerm[]
  readonly scoredAt: string | null
  readonly failuresInRow: number
  readonly failuresTotal: number
  readonly busyInRow: number
  readonly verifiedTotal: number
  /** How often address or claim were changed. */
  readonly moves: number
  /** Boxes it was to run together with, and did not: the next round puts them into its cohort. */
  readonly owes: readonly string[]
  /** Windows missed since it last owed nothing. */
  readonly missed: number
  /** How often in a row it has kept us waiting for nothing. */
  readonly stalls: number
  readonly lastResult: number | null
  readonly inventory: Inventory | null
}

/** A box in a list: an inventory is as fat as its box likes, so it comes with the box alone. */
export type BoxSummary = Omit<BoxRecord, 'inventory'>

export interface Page {
  /** Opaque to the caller: the `next` of the page before. */
  readonly after: string | null
  readonly limit: number
}

export interface Paged<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

export interface BoxFilter {
  readonly provider?: string | undefined
  readonly status?: BoxStatus | undefined
  readonly claimVerdict?: ClaimAnswer | undefined
}

export interface FleetRound {
  readonly number: number
  readonly openedAt: string
  readonly height: number | null
  readonly jobs: number
  readonly done: number
  readonly accepted: number
  readonly rejected: number
}

/** A round to open with its jobs; delays count from the moment the store opens it. */
export type NewRound = Pick<FleetRound, 'number' | 'height'> & { readonly jobs: readonly PlannedJob[] }

/** A job that a validator has taken for a time. `attempt` is its fencing token: whoever holds an older one can store nothing. */
export interface TakenJob extends Omit<PlannedJob, 'delayMs'> {
  readonly id: number
  /** How often the job has been taken. */
  readonly attempt: number
  /** How often it has been finished without passing. */
  readonly tries: number
  readonly box: BoxRecord
}

export interface TakeRequest {
  readonly owner: string
  readonly holdMs: number
  readonly limit: number
  /** A cohort of more than this is not waited for; `limit` where it is left out. */
  readonly places?: number
  /** Only boxes that have kept us waiting, or only others; both where it is left out. */
  readonly stalled?: boolean
}

/** One proven or inferred number of one device; device -1 is the whole box. */
export interface StoredFigure {
  readonly device: number
  readonly name: string
  readonly value: number
}

export interface NewResult {
  readonly outcome: Outcome
  /** A reject code, a fault code, or null. */
  readonly code: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
  readonly preset: string | null
  readonly runId: string | null
  readonly proverKey: string | null
  readonly startedAt: string
  readonly seconds: number
  /** What the run says of the box's claim; null where none was judged. */
  readonly claimVerdict: ClaimAnswer | null
  readonly judgement: unknown
  readonly inventory: Inventory | null
  readonly figures: readonly StoredFigure[]
  readonly certificate: string | null
  readonly marks: readonly HistoryNote[]
}

export interface BoxUpdate
  extends Pick<BoxRecord, 'status' | 'score' | 'terms' | 'failuresInRow' | 'busyInRow' | 'owes' | 'missed' | 'stalls'> {
  /** True when `score` was earned or lost now; false leaves the old one to age. */
  readonly scored: boolean
  /** So long nothing but what an operator asks for is begun with the box. */
  readonly restMs: number | null
  readonly failed: boolean
}

/** How a job ends: with its result, what becomes of the box, and whether it is tried again. */
export interface Finish {
  /** With the box as it was taken: what an address or claim that was changed since has earned is not the box's. */
  readonly job: Pick<TakenJob, 'id' | 'attempt' | 'box'>
  readonly owner: string
  readonly result: NewResult
  readonly box: BoxUpdate
  readonly retryInMs: number | null
  /** False: with the next full cohort of the round, or not again in it. */
  readonly retryAlone: boolean
  /** Fresh runs this result asks for, e.g. after a changed card. */
  readonly followUps: readonly PlannedJob[]
}

export interface ResultRecord
  extends Omit<NewResult, 'certificate'>,
    Pick<TakenJob, 'round' | 'boxId' | 'kind' | 'reason'> {
  readonly id: number
  readonly provider: string
  readonly score: number
  readonly at: string
}

/** A result in a list: judgement and inventory come with the result alone. */
export type ResultSummary = Omit<ResultRecord, 'judgement' | 'inventory'>

/** Latest proven facts of one box, for those who look up what a provider has. */
export interface ProviderSpec
  extends Pick<BoxRecord, 'status' | 'claim' | 'claimVerdict' | 'score'>,
    Pick<ResultRecord, 'boxId' | 'runId' | 'figures'> {
  readonly at: string | null
  /** The result they are from, which has the judgement. */
  readonly result: number | null
}

/** What is cheap to count. */
export interface FleetOverview {
  readonly boxes: number
  readonly byStatus: Readonly<Record<string, number>>
  /** Boxes with a claim that was judged. */
  readonly byClaimVerdict: Readonly<Record<string, number>>
  readonly resultsLastHour: number
}

export interface FleetStatistics extends FleetOverview {
  readonly providers: number
  readonly results: number
  readonly rejectedByCode: Readonly<Record<string, number>>
  /** Sum and median of each figure over the latest accepted full result of every box. */
  readonly figures: readonly {
    readonly name: string
    readonly boxes: number
    readonly sum: number
    readonly median: number
  }[]
}

export interface QueueState {
  readonly waiting: number
  readonly leased: number
  readonly done: number
  /** Seconds the longest-waiting due job has been due; 0 when none is. */
  readonly lagSeconds: number
}

export interface Retention {
  readonly resultDays: number
  /** Certificates of accepted runs that are not the box's latest; those of rejected runs stay as long as results. */
  readonly certificateDays: number
}

/** Everything a validator remembers. Its clock is the database's, so that several validators share one. */
export interface Store {
  /** A box with another claim or address than before is `new`, without a score, until a full run has judged it. */
  putBox(box: BoxEntry): Promise<void>
  /** Takes a box out of the fleet; its history stays. False when there is none. */
  removeBox(id: string): Promise<boolean>
  setAllocated(id: string, allocated: boolean): Promise<boolean>
  box(id: string): Promise<BoxRecord | null>
  boxes(filter: BoxFilter, page: Page): Promise<Paged<BoxSummary>>
  /** Boxes of the fleet with what planning a round needs. */
  fleet(): Promise<readonly FleetBox[]>

  /** True when no round was opened for `everyMs` (or its time lies in the future: the clock was set back). */
  roundDue(everyMs: number): Promise<boolean>
  /** Opens the round with all its jobs, or does nothing and answers false when it is open already. */
  openRound(round: NewRound): Promise<boolean>
  lastRound(): Promise<FleetRound | null>
  rounds(page: Page): Promise<Paged<FleetRound>>

  /** Adds a job outside the plan of a round; false when the same one is there already. */
  addJob(job: PlannedJob): Promise<boolean>
  takeJobs(request: TakeRequest): Promise<readonly TakenJob[]>
  /** Holds jobs for longer; answers the ids of those that are still ours. */
  keepJobs(
    request: Pick<TakeRequest, 'owner' | 'holdMs'> & { readonly jobs: readonly Pick<TakenJob, 'id' | 'attempt'>[] },
  ): Promise<readonly number[]>
  /** Puts unfinished jobs back without counting a try. `owner` null: of every owner, for a store with one user. */
  releaseJobs(owner: string | null): Promise<number>
  /** Stores the result and the box's state in one transaction; null when the job is no longer held, and nothing is stored. */
  finishJob(finish: Finish): Promise<number | null>
  queue(): Promise<QueueState>

  result(id: number): Promise<ResultRecord | null>
  history(boxId: string, page: Page): Promise<Paged<ResultSummary>>
  certificate(runId: string): Promise<string | null>
  specs(provider: string, page: Page): Promise<Paged<ProviderSpec>>
  overview(): Promise<FleetOverview>
  statistics(): Promise<FleetStatistics>
  /** Boxes, other than this one, whose latest inventory claims one of these card ids. */
  boxesWithCards(cards: readonly string[], notBox: string): Promise<readonly string[]>

  /** Remembers a nonce; false when it was seen before. Nonces older than `keepMs` are forgotten. */
  useNonce(nonce: string, keepMs: number): Promise<boolean>
  retain(retention: Retention): Promise<{ readonly results: number; readonly certificates: number }>
  /** A whole copy of one instant, line by line; `load` takes it into an empty store. Both answer the number of rows. */
  dump(write: (line: string) => Promise<void>): Promise<number>
  load(lines: AsyncIterable<string>): Promise<number>
  ping(): Promise<void>
  close(): Promise<void>
}
