import type { ClaimAnswer } from '../core/identify/claimReasons.ts'
import type { JobKind, Outcome } from '../core/schedule/boxState.ts'

/** What those who watch are told: our own words and numbers only. */
export type LiveEvent =
  | { readonly type: 'started'; readonly boxId: string; readonly round: number; readonly kind: JobKind }
  | {
      readonly type: 'step'
      readonly boxId: string
      readonly step: string
      readonly done: number | null
      readonly of: number | null
    }
  | {
      readonly type: 'finished'
      readonly boxId: string
      readonly round: number
      readonly kind: JobKind
      readonly outcome: Outcome
      readonly code: string | null
      readonly claimVerdict: ClaimAnswer | null
      readonly score: number
      readonly resultId: number
    }
  | { readonly type: 'round'; readonly round: number; readonly jobs: number }

export interface LiveRuns {
  publish(event: LiveEvent): void
  /** Returns what ends the subscription. A listener must not block. */
  subscribe(listener: (event: LiveEvent) => void): () => void
}
