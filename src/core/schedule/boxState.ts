import type { ClaimAnswer } from '../identify/claimReasons.ts'

/** `full` proves everything the preset asks; `light` is a small proof of life that leaves a rented box its cards. */
export const JOB_KINDS = ['full', 'light'] as const
export type JobKind = (typeof JOB_KINDS)[number]

/** Why a job exists. One box has at most one job per round, kind and reason. */
export const JOB_REASONS = ['round', 'probe', 'changed', 'asked'] as const
export type JobReason = (typeof JOB_REASONS)[number]

/**
 * `fault` is the validator's own trouble and says nothing about the box; `unreachable` and `rejected` do. `void`: genuine
 * or not, it was not in the window of its cohort.
 */
export const OUTCOMES = ['accepted', 'rejected', 'unreachable', 'busy', 'void', 'fault'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** `claim-unmet`: the work was genuine, but does not show what the box is sold as. */
export const STATUSES = ['new', 'verified', 'claim-unmet', 'failed', 'busy'] as const
export type BoxStatus = (typeof STATUSES)[number]

export interface BoxState {
  readonly status: BoxStatus
  readonly score: number
  readonly failuresInRow: number
  readonly busyInRow: number
  /** Windows in a row that it stood in and missed. */
  readonly missed: number
}

export interface BoxRules {
  /** So many times in a row a box may be busy; once more is a failure, or "busy" would keep an old score (attack 18). */
  readonly busyLimit: number
}

/** What a run would give its box if it was accepted. */
export interface Earned {
  readonly kind: JobKind
  /** Null where nothing was shown. */
  readonly score: number | null
  /** Null where nothing was claimed. */
  readonly claimVerdict: ClaimAnswer | null
  /** Rented: nothing but light looks is asked of it. */
  readonly allocated: boolean
  /** It ran outside the window of its fleet round: nothing is earned there. */
  readonly apart: boolean
}

export interface NextBoxState extends BoxState {
  /** The score was earned or lost now; otherwise the old one stays and ages. */
  readonly scored: boolean
  /** What was shown without earning: a score above it falls to it, and is no younger for that. Null: nothing falls. */
  readonly atMost: number | null
  readonly failed: boolean
}

/** So many windows in a row a box may miss before it has failed. */
const MAY_MISS = 1

/** What one outcome makes of a box. Only a full proof earns points; any failure takes them at once. */
export function nextBoxState(state: BoxState, outcome: Outcome, earned: Earned, rules: BoxRules): NextBoxState {
  const { kind } = earned
  if (outcome === 'fault') return unscored(state)
  if (outcome === 'accepted') return kind === 'light' ? lookedAt(state, earned) : proven(state, earned)
  const missing = kind === 'full' ? { ...state, missed: state.missed + 1 } : state
  if (outcome === 'void' && kind === 'full')
    return missing.missed > MAY_MISS ? failure(missing) : lowered(missing, earned)
  if (outcome !== 'busy') return failure({ ...missing, busyInRow: 0 })
  // That is what it is rented for (attack 432).
  if (kind === 'light' && earned.allocated) return unscored(state)
  const busyInRow = state.busyInRow + 1
  if (busyInRow > rules.busyLimit) return failure({ ...missing, busyInRow })
  return unscored({ ...missing, status: isHeldAgainst(state) ? state.status : 'busy', busyInRow })
}

/** What was found out about a box does not end by its being busy (attack 378). */
const isHeldAgainst = ({ status }: BoxState): boolean => status === 'failed' || status === 'claim-unmet'

/**
 * A light proof shows a living box, not a fast one: it neither earns points nor wipes out a failure. Nor does it make busy
 * count anew, or a box would be busy for every full one and keep an old score (attack 62).
 */
const lookedAt = (state: BoxState, { allocated }: Earned): NextBoxState =>
  unscored({ ...state, busyInRow: allocated ? 0 : state.busyInRow })

/** Apart from the others it may have shown a card that one of them is paid for (attacks 125, 126). */
function proven(state: BoxState, earned: Earned): NextBoxState {
  if (earned.apart) return lowered(state, earned)
  const counts = { failuresInRow: 0, busyInRow: 0, missed: 0 }
  const status = isUnmet(earned.claimVerdict) ? 'claim-unmet' : 'verified'
  return { status, score: earned.score ?? state.score, ...counts, scored: true, atMost: null, failed: false }
}

/** A claim that was not shown to be met. */
export const isUnmet = (verdict: ClaimAnswer | null): boolean => verdict !== null && verdict !== 'matches'

/**
 * What earns nothing still shows what the box can do now, and what it is not (attack 346). The proof of the score stays as
 * old as it is (attack 135).
 */
const lowered = (state: BoxState, { score, claimVerdict }: Earned): NextBoxState => ({
  ...unscored(state),
  status: isUnmet(claimVerdict) ? 'claim-unmet' : state.status,
  score: Math.min(state.score, score ?? state.score),
  atMost: score,
})

const unscored = (state: BoxState): NextBoxState => ({ ...state, scored: false, atMost: null, failed: false })

const failure = (state: BoxState): NextBoxState => ({
  ...state,
  status: 'failed',
  score: 0,
  failuresInRow: state.failuresInRow + 1,
  scored: true,
  atMost: null,
  failed: true,
})
