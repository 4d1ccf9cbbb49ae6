import type { Inventory } from '../core/inventory/inventory.ts'
import type { RoundRecord } from '../core/ledger/roundRecord.ts'
import type { NextBoxState } from '../core/schedule/boxState.ts'
import type {
  BoxSummary,
  FleetOverview,
  FleetRound,
  FleetStatistics,
  ProviderSpec,
  QueueState,
  ResultSummary,
} from '../core/schedule/fleetRecords.ts'
import type { FleetBox, PlannedJob } from '../core/schedule/planFleetRound.ts'

export type { BoxSummary, FleetOverview, FleetRound, FleetStatistics, ProviderSpec, QueueState, ResultSummary }

/** A machine the operator wants verified. */
export type BoxEntry = Pick<BoxSummary, 'id' | 'address' | 'provider' | 'claim' | 'allocated'>

/** What is known of a box now. */
export interface BoxRecord extends BoxSummary {
  readonly inventory: Inventory | null
}

export interface Page {
  /** Opaque to the caller: the `next` of the page before. */
  readonly after: string | null
  readonly limit: number
}

export interface Paged<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

export type BoxFilter = {
  readonly [K in 'provider' | 'status' | 'claimVerdict']?: NonNullable<BoxSummary[K]> | undefined
}

/** A round to open with its jobs; delays count from the moment the store opens it. */
export type NewRound = Pick<FleetRound, 'number' | 'height'> & {
  readonly jobs: readonly PlannedJob[]
}

/** A job that a validator has taken for a time. `attempt` is its fencing token: whoever holds an older one can store nothing. */
export interface TakenJob extends Omit<PlannedJob, 'delayMs'> {
  readonly id: number
  /** How often the job has been taken. */
  readonly attempt: number
  /** How often it has been finished without passing. */
  readonly tries: number
  readonly box: BoxRecord
  /** Which window of the round it was taken for, together with all others of that window; null where it stands in none. */
  readonly window: number | null
}

export interface TakeRequest {
  readonly owner: string
  readonly holdMs: number
  readonly limit: number
  /** A cohort of more than this is not waited for; `limit` where it is left out. */
  readonly places?: number
  /** Only boxes that have kept us waiting, or only others; both where it is left out. */
  readonly stalled?: boolean
  /** Only jobs that stand in no cohort, such as light looks, or only others; both where it is left out. */
  readonly single?: boolean
  /** Jobs of this owner that are at work; any other of its jobs was taken by a statement whose answer was lost (attack 151). */
  readonly atWork?: readonly number[]
}

export interface ResultRecord extends ResultSummary {
  readonly judgement: unknown
  readonly inventory: Inventory | null
}

/** What a run leaves behind; the store knows the rest of its record. */
export interface NewResult extends Omit<ResultRecord, 'id' | 'provider' | 'score' | 'at' | keyof PlannedJob> {
  readonly certificate: string | null
}

export interface BoxUpdate extends NextBoxState, Pick<BoxRecord, 'terms' | 'stalls'> {
  /** So long nothing but what an operator asks for is begun with the box. */
  readonly restMs: number | null
}

/** How a job ends: with its result, what becomes of the box, and whether it is tried again. */
export interface Finish {
  /** With the box as it was taken: what an address, claim or provider that was changed since has earned is not the box's. */
  readonly job: Pick<TakenJob, 'id' | 'attempt' | 'box' | 'window'>
  readonly owner: string
  readonly result: NewResult
  readonly box: BoxUpdate
  readonly retryInMs: number | null
  /** Fresh runs this result asks for, e.g. after a changed card. */
  readonly followUps: readonly PlannedJob[]
}

export interface StoredResult {
  readonly id: number
  /** False where the box was changed meanwhile: its history has the result, and nothing else of it counts. */
  readonly isOfBox: boolean
}

/** What is earned in a window counts when the window is over, for all of them at once. */
export const waitsForWindow = ({ job, result, box }: Pick<Finish, 'job' | 'result' | 'box'>): boolean =>
  job.window !== null && box.scored && result.outcome === 'accepted'

export interface Retention {
  readonly resultDays: number
  /** Certificates of accepted runs that are not the box's latest; those of rejected runs stay as long as results. */
  readonly certificateDays: number
}

/** What a box stands at: its score when it was earned, and the SHA-256 of the certificate that earned it. */
export type Standing = Pick<BoxSummary, 'id' | 'score' | 'scoredAt' | 'current'> & {
  readonly certificate: string | null
}

/** A round that was closed, and how far it has come on the ledger. */
export interface KeptRound {
  readonly record: RoundRecord
  readonly state: 'waiting' | 'published' | 'refused'
  /** How often it was sent or looked for. */
  readonly tries: number
  /** Where it is published, or what the ledger last said. */
  readonly said: string | null
}

/** Everything a validator remembers. Its clock is the database's, so that several validators share one. */
export interface Store {
  /**
   * A box with another claim or address than before, or that had been removed, is `new`, without a score, until a full run
   * has judged it. Where another box has its address, or its provider's key, nothing is put: the answer is that box.
   * `allocated` null: as it was, or free.
   */
  putBox(box: Omit<BoxEntry, 'allocated'> & { readonly allocated: boolean | null }): Promise<string | null>
  /** Takes a box out of the fleet; its history stays. False when there is none. */
  removeBox(id: string): Promise<boolean>
  /** A full proof of it that waits is over; one that was asked for in this round, or follows a change, comes back after the rent. */
  setAllocated(id: string, allocated: boolean): Promise<boolean>
  box(id: string): Promise<BoxRecord | null>
  boxes(filter: BoxFilter, page: Page): Promise<Paged<BoxSummary>>
  /** Boxes of the fleet with what planning a round needs. */
  fleet(): Promise<readonly FleetBox[]>

  /** True when no round was opened for `everyMs` (or its time lies in the future: the clock was set back). */
  roundDue(everyMs: number): Promise<boolean>
  /** Opens the round with all its jobs, or does nothing and answers false when it is open already. */
  openRound(round: NewRound): Promise<boolean>
  /**
   * The window of a round is over: what was earned in it counts from now on, and nothing that was earned in another. Null:
   * whichever it is, if all of its jobs are done. Answers how many earned.
   */
  settle(round: number, window: number | null): Promise<number>
  lastRound(): Promise<FleetRound | null>
  rounds(page: Page): Promise<Paged<FleetRound>>

  /** Adds a job outside the plan of a round; false when the same one waits, is under way or has run. */
  addJob(job: PlannedJob): Promise<boolean>
  /** Whether such a job waits or is under way. */
  isOpen(job: PlannedJob): Promise<boolean>
  takeJobs(request: TakeRequest): Promise<readonly TakenJob[]>
  /** Holds jobs for longer; answers the ids of those that are still ours. */
  keepJobs(
    request: Pick<TakeRequest, 'owner' | 'holdMs'> & { readonly jobs: readonly Pick<TakenJob, 'id' | 'attempt'>[] },
  ): Promise<readonly number[]>
  /** Puts unfinished jobs back without counting a try. `owner` null: of every owner, for a store with one user. */
  releaseJobs(owner: string | null): Promise<number>
  /** Stores the result and the box's state in one transaction; what was earned in a window waits until that is settled; null when the job is no longer held, and nothing is stored. */
  finishJob(finish: Finish): Promise<StoredResult | null>
  queue(): Promise<QueueState>

  /** Every box of the fleet, as a round that is closed now has it. */
  standings(): Promise<readonly Standing[]>
  /** Keeps a closed round until it is published; false when this validator has closed it before, and nothing is kept. */
  keepRound(record: RoundRecord): Promise<boolean>
  /** The oldest round of a validator that is not published, when its next try is due. */
  dueRound(validator: string): Promise<KeptRound | null>
  /** Notes what came of a try; `retryInMs` null: the round is done with. */
  noteRound(
    round: Pick<RoundRecord, 'validator' | 'round'>,
    outcome: Pick<KeptRound, 'state' | 'said'> & { readonly retryInMs: number | null },
  ): Promise<void>
  /** One round of a validator, or its last. */
  keptRound(validator: string, round: number | null): Promise<KeptRound | null>

  result(id: number): Promise<ResultRecord | null>
  history(boxId: string, page: Page): Promise<Paged<ResultSummary>>
  /** The file in pieces, each read when it is asked for: nobody needs all of it at once (attack 250). */
  certificate(runId: string): Promise<AsyncIterable<Uint8Array> | null>
  specs(provider: string, page: Page): Promise<Paged<ProviderSpec>>
  overview(): Promise<FleetOverview>
  statistics(): Promise<FleetStatistics>
  /** Boxes, other than this one, whose latest inventory claims one of these card ids. */
  boxesWithCards(cards: readonly string[], notBox: string): Promise<readonly string[]>
  /** Answers the other boxes whose chips these are: in this round, or in so many before it while they hold a score. */
  takeChips(taken: {
    readonly round: number
    readonly keptRounds: number
    readonly boxId: string
    readonly chips: readonly string[]
    /** Those that are nobody else's are this box's from now on. */
    readonly isNoted: boolean
  }): Promise<readonly string[]>
  /**
   * Answers the other box of which this is the prover key, or null. A key that is nobody's is this box's from now on, in place
   * of the one it had, where its prover has signed with it.
   */
  takeKey(taken: {
    readonly boxId: string
    /** A box that has moved since is another. */
    readonly moves: number
    readonly key: string
    readonly isSigned: boolean
  }): Promise<string | null>

  /** Remembers a nonce; false when it was seen before. Nonces older than `keepMs` are forgotten. */
  useNonce(nonce: string, keepMs: number): Promise<boolean>
  retain(retention: Retention): Promise<{ readonly results: number; readonly certificates: number }>
  /** A whole copy of one instant, line by line; `load` takes it into an empty store. Both answer the number of rows. */
  dump(write: (line: string) => Promise<void>): Promise<number>
  load(lines: AsyncIterable<string>): Promise<number>
  ping(): Promise<void>
  close(): Promise<void>
}
