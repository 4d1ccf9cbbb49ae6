import type { ClaimAnswer } from '../identify/claimReasons.ts'

/** `full` proves everything the preset asks; `light` is a small proof of life that leaves a rented box its cards. */
export type JobKind = 'full' | 'light'

/** Why a job exists. One box has at most one job per round, kind and reason. */
export type JobReason = 'round' | 'probe' | 'changed' | 'asked'

/** `fault` is the validator's own trouble and says nothing about the box; `unreachable` and `rejected` do. */
export type Outcome = 'accepted' | 'rejected' | 'unreachable' | 'busy' | 'fault'

/** `claim-unmet`: the work was genuine, but does not show what the box is sold as. */
export type BoxStatus = 'new' | 'verified' | 'claim-unmet' | 'failed' | 'busy'

export const OUTCOMES: readonly Outcome[] = ['accepted', 'rejected', 'unreachable', 'busy', 'fault']
export const STATUSES: readonly BoxStatus[] = ['new', 'verified', 'claim-unmet', 'failed', 'busy']

export interface BoxState {
  readonly status: BoxStatus
  readonly score: number
  readonly failuresInRow: number
  readonly busyInRow: number
}

export interface BoxRules {
  /** So many times in a row a box may be busy; once more is a failure, or "busy" would keep an old score (attack 18). */
  readonly busyLimit: number
}

/** What a run would give its box if it was accepted. */
export interface Earned {
  readonly kind: JobKind
  readonly score: number
  /** Null where nothing was claimed. */
  readonly claimVerdict: ClaimAnswer | null
  /** Rented: nothing but light looks is asked of it. */
  readonly allocated: boolean
}

export interface NextBoxState extends BoxState {
  /** The score was earned or lost now; otherwise the old one stays and ages. */
  readonly scored: boolean
  readonly failed: boolean
}

/** What one outcome makes of a box. Only a full proof earns points; any failure takes them at once. */
export function nextBoxState(state: BoxState, outcome: Outcome, earned: Earned, rules: BoxRules): NextBoxState {
  if (outcome === 'rejected' || outcome === 'unreachable') return failure(state, 0)
  if (outcome === 'fault') return { ...state, scored: false, failed: false }
  if (outcome === 'busy') {
    const busyInRow = state.busyInRow + 1
    if (busyInRow > rules.busyLimit) return failure(state, busyInRow)
    return { ...state, status: 'busy', busyInRow, scored: false, failed: false }
  }
  // A light proof shows a living box, not a fast one: it neither earns points nor wipes out a failure.
  // Nor does it make busy count anew, or a box would be busy for every full one and keep an old score (attack 62).
  if (earned.kind === 'light')
    return { ...state, busyInRow: earned.allocated ? 0 : state.busyInRow, scored: false, failed: false }
  const status = earned.claimVerdict === null || earned.claimVerdict === 'matches' ? 'verified' : 'claim-unmet'
  return { status, score: earned.score, failuresInRow: 0, busyInRow: 0, scored: true, failed: false }
}

const failure = (state: BoxState, busyInRow: number): NextBoxState => ({
  status: 'failed',
  score: 0,
  failuresInRow: state.failuresInRow + 1,
  busyInRow,
  scored: true,
  failed: true,
})
