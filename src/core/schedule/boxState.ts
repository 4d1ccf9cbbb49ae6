import type { ClaimAnswer } from '../identify/claimReasons.ts'
import { LARGEST_COHORT } from './largestCohort.ts'
import { isStranger, noteBeside, type ShownBeside, shareBeside } from './shownBeside.ts'

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
  /** Boxes it was to run together with, and did not. */
  readonly owes: readonly string[]
  /** Windows missed since it last owed nothing. */
  readonly missed: number
  readonly beside: ShownBeside
}

export interface BoxRules {
  /** So many times in a row a box may be busy; once more is a failure, or "busy" would keep an old score (attack 18). */
  readonly busyLimit: number
}

/** What a run would give its box if it was accepted. */
export interface Earned {
  readonly kind: JobKind
  /** The old one where nothing was shown. */
  readonly score: number
  /** Points of its cards in it; null where nothing was shown. */
  readonly shown: number | null
  /** Null where nothing was claimed. */
  readonly claimVerdict: ClaimAnswer | null
  /** Rented: nothing but light looks is asked of it. */
  readonly allocated: boolean
  /** The other boxes of its cohort, with those away that owe it a window as it does them; and those whose runs count in it. */
  readonly mates: readonly string[]
  readonly together: readonly string[]
  /** Those that ran beside it, whether their runs count or not. */
  readonly ran: readonly string[]
  /** Of all that it has run beside: those that hold a score. */
  readonly standing: readonly string[]
  /** It ran where no box stood beside it that may be paid for the same card: nothing is earned there. */
  readonly apart: boolean
}

export interface NextBoxState extends BoxState {
  /** The score was earned or lost now; otherwise the old one stays and ages. */
  readonly scored: boolean
  /** The score fell to what was shown, and is no younger for it. */
  readonly lowered: boolean
  readonly failed: boolean
}

/** So many windows a box may miss, and still earn before it has run with those it missed. */
const MAY_MISS = 1

/** What one outcome makes of a box. Only a full proof earns points; any failure takes them at once. */
export function nextBoxState(state: BoxState, outcome: Outcome, earned: Earned, rules: BoxRules): NextBoxState {
  const { kind, shown, ran, together, standing, score } = earned
  if (kind === 'light' || shown === null || !(outcome === 'accepted' || outcome === 'void'))
    return afterOutcome(state, outcome, earned, rules)
  const beside = noteBeside(state.beside, shown, ran, outcome === 'accepted' ? together : [])
  const paid = Math.floor(score * shareBeside(beside, shown, standing))
  const apart = earned.apart || isStranger(beside, standing)
  return afterOutcome({ ...state, beside }, outcome, { ...earned, score: paid, apart }, rules)
}

function afterOutcome(state: BoxState, outcome: Outcome, earned: Earned, rules: BoxRules): NextBoxState {
  if (outcome === 'fault') return unscored(state)
  if (outcome === 'accepted') return earned.kind === 'light' ? lookedAt(state, earned) : proven(state, earned)
  const missing = earned.kind === 'full' ? miss(state, earned) : state
  if (outcome === 'void' && earned.kind === 'full')
    return state.missed >= MAY_MISS ? failure(missing) : lowered(missing, earned)
  if (outcome !== 'busy') return failure({ ...missing, busyInRow: 0 })
  const busyInRow = state.busyInRow + 1
  if (busyInRow > rules.busyLimit) return failure({ ...missing, busyInRow })
  return unscored({ ...missing, status: 'busy', busyInRow })
}

/**
 * A light proof shows a living box, not a fast one: it neither earns points nor wipes out a failure. Nor does it make busy
 * count anew, or a box would be busy for every full one and keep an old score (attack 62).
 */
const lookedAt = (state: BoxState, { allocated }: Earned): NextBoxState =>
  unscored({ ...state, busyInRow: allocated ? 0 : state.busyInRow })

/**
 * Who missed a window owes one to those who were to be in it. Until then what was missed is not forgotten, nothing is
 * earned alone or where one that is owed misses this window, and after a second miss nothing at all: or two boxes with one
 * card would miss in turn (attacks 77, 185).
 */
function proven(state: BoxState, earned: Earned): NextBoxState {
  const { mates, together, score, apart } = earned
  const owes = state.owes.filter((id) => !together.includes(id))
  const still = owes.length > 0
  const oneIsAbsent = owes.some((id) => mates.includes(id))
  // What shows less than before counts at once (attacks 125, 126).
  if (apart || (still && (state.missed > MAY_MISS || together.length === 0 || oneIsAbsent)))
    return lowered({ ...state, owes, status: isUnmet(earned) ? 'claim-unmet' : state.status }, earned)
  const status = isUnmet(earned) ? 'claim-unmet' : 'verified'
  const { missed, busyInRow, beside } = state
  // One window together makes up for one that was missed, not for all of them (attack 134).
  const kept = still ? { missed, busyInRow } : { missed: Math.max(0, missed - 1), busyInRow: 0 }
  return { status, score, failuresInRow: 0, owes, beside, ...kept, scored: true, lowered: false, failed: false }
}

const isUnmet = ({ claimVerdict }: Earned): boolean => claimVerdict !== null && claimVerdict !== 'matches'

/** What earns nothing still shows what the box can do now. The proof of the score stays as old as it is (attack 135). */
function lowered(state: BoxState, { score }: Earned): NextBoxState {
  return score < state.score ? { ...unscored(state), score, lowered: true } : unscored(state)
}

const miss = (state: BoxState, { mates }: Earned): BoxState => ({
  ...state,
  // Ahead of what it owes for being away, of which less is remembered (attack 228).
  owes: [...new Set([...mates, ...state.owes])].slice(0, LARGEST_COHORT),
  missed: state.missed + 1,
})

const unscored = (state: BoxState): NextBoxState => ({ ...state, scored: false, lowered: false, failed: false })

const failure = (state: BoxState): NextBoxState => ({
  ...state,
  status: 'failed',
  score: 0,
  failuresInRow: state.failuresInRow + 1,
  scored: true,
  lowered: false,
  failed: true,
})
