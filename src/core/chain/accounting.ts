import { MICRO_UT_PER_UT } from './workUnits.ts'

/** How much of a rate is left after an epoch, in 2^-64: floor(2^64 * 2^(-1/n)) halves it in n epochs (§4). */
export type Decay = bigint

/** Effective power halves in a week of 168 epochs, settled power S, which bounds votes, in eight weeks. */
export const WEEKLY: Decay = 18370791886079017691n
export const EIGHT_WEEKLY: Decay = 18437232904035709838n

const EPOCHS_A_DAY = 24n
const ONE = 1n << 64n
const MAX_U64 = ONE - 1n

/**
 * A rate in µut a day, an epoch later: the old fades, the work of the epoch comes in at its share. An unsettled task or
 * order keeps such a rate of its own from the epoch of its commitment on, and adds it to its account when it settles.
 */
export const decayAndAdd = (rate: bigint, work: bigint, decay: Decay): bigint =>
  work === 0n ? (rate * decay) >> 64n : ((rate * decay) >> 64n) + (((ONE - decay) * work * EPOCHS_A_DAY) >> 64n)

/** Full marks of quality, and what is needed at all: below one half nothing counts. */
const FULL_QUALITY = 256n
const LEAST_QUALITY = 128n

/** q: the share of good drilling in all of it, by work, in 256ths. Who has no history is trusted. */
export function quality(drilled: bigint, failed: bigint): bigint {
  if (drilled + failed === 0n) return FULL_QUALITY
  const share = (FULL_QUALITY * drilled) / (drilled + failed)
  return share < LEAST_QUALITY ? 0n : share
}

/** 0.4 of drilling, as good as it was, and 0.6 of training. */
export const combined = (drilling: bigint, training: bigint, q: bigint): bigint =>
  (4n * ((drilling * q) >> 8n) + 6n * training) / 10n

/** Rates of an account, in µut a day. */
export interface Power {
  /** R_D and R_T: effective power by drilling and by training. */
  readonly drilled: bigint
  readonly trained: bigint
  /** F_D: drilling that failed, came late or dissented. */
  readonly failed: bigint
  /** S: what was settled, over eight weeks. */
  readonly settled: bigint
}

/** w: the weight of an account in the lottery. */
export function weightOf({ drilled, trained, failed }: Omit<Power, 'settled'>): bigint {
  const weight = combined(drilled, trained, quality(drilled, failed))
  return weight > MAX_U64 ? MAX_U64 : weight
}

/** v: its weight in votes, at most twice what was settled, so that power rented yesterday has no vote. */
export function votingWeightOf(power: Power): bigint {
  const weight = weightOf(power)
  const limit = 2n * power.settled
  return weight < limit ? weight : limit
}

/** The part of `work` that counts: an account is credited up to 11/10 of the work an epoch of its proven capacity can do. */
export function creditWithin(capacity: bigint, used: bigint, work: bigint): bigint {
  const left = (11n * capacity) / 10n - used
  if (left <= 0n) return 0n
  return work < left ? work : left
}

/**
 * 0.2, what a ut of training weighs more than one of drilling, of what weight earns: 0.475 of the block part, which is all
 * of a quarter of the slots and 30 % of the rest, and the vote part.
 */
const BLOCK_NUMERATOR = 19n
const VOTE_NUMERATOR = 40n
const BURN_DENOMINATOR = 200n

/** phi: units that a trainer burns for each ut of credit, so that it earns no more than drilling. The parts are those of an epoch's issuance, in units. */
export function trainingBurn(blockPart: bigint, votePart: bigint, totalWeight: bigint): bigint {
  if (totalWeight <= 0n) throw new RangeError('the total weight must be above 0')
  const earned = BLOCK_NUMERATOR * blockPart + VOTE_NUMERATOR * votePart
  return (EPOCHS_A_DAY * MICRO_UT_PER_UT * earned) / (BURN_DENOMINATOR * totalWeight)
}
