import type { ResultRecord } from './store.ts'

/** What those who watch are told: our own words and numbers only. */
export type LiveEvent =
  | ({ readonly type: 'started' } & Pick<ResultRecord, 'boxId' | 'round' | 'kind'>)
  | {
      readonly type: 'step'
      readonly boxId: string
      readonly step: string
      readonly done: number | null
      readonly of: number | null
    }
  | ({
      readonly type: 'finished'
      readonly resultId: number
      /** Points that are no score before their window is over; null where none wait. */
      readonly waiting: number | null
    } & Pick<ResultRecord, 'boxId' | 'round' | 'kind' | 'outcome' | 'code' | 'claimVerdict' | 'score'>)
  | { readonly type: 'round'; readonly round: number; readonly jobs: number }

export interface LiveRuns {
  publish(event: LiveEvent): void
  /** Returns what ends the subscription. A listener must not block. */
  subscribe(listener: (event: LiveEvent) => void): () => void
}
