import { partOf, reward } from '../ledger.ts'
import { StateType, valuesOf } from '../stateType.ts'
import type { EpochWork } from './endEpoch.ts'

/** A report counts in full for 12 epochs and fades to nothing at 36. */
const FULL_AGE = 12n
const LAST_AGE = 36n

export function faded(value: bigint, age: bigint): bigint {
  if (age <= FULL_AGE) return value
  return age >= LAST_AGE ? 0n : (value * (LAST_AGE - age)) / (LAST_AGE - FULL_AGE)
}

export interface Opinion {
  readonly value: bigint
  readonly stake: bigint
}

/** The smallest value with half of all stake at or below it; who says nothing says 0. */
export function stakeMedian(opinions: readonly Opinion[], allStake: bigint): bigint {
  const silent = opinions.reduce((left, { stake }) => left - stake, allStake)
  let below = silent
  if (2n * below >= allStake) return 0n
  const ascending = [...opinions].sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0))
  for (const { value, stake } of ascending) {
    below += stake
    if (2n * below >= allStake) return value
  }
  return 0n
}

/** §4: scores of boxes, capacities of accounts, and what both earn. */
export function settleScores(work: EpochWork): void {
  const { state, accounts, params } = work
  const { epoch } = state
  const stakes = new Map(state.validators.getAll().map((place) => [place, accounts.stake.get(place)]))
  const allStake = [...stakes.values()].reduce((sum, stake) => sum + stake, 0n)
  const scores = judgeBoxes(work, stakes, allStake)
  const total = scores.reduce((sum, { score }) => sum + score, 0n)
  const scorePart = partOf('scoreShare', epoch, params)
  for (const { account, score } of scores) reward(work, account, (scorePart * score) / total)
  const reports = valuesOf(state.reports)
  const validatorPart = partOf('validatorShare', epoch, params)
  for (const { validator, epoch: of, revealed } of reports)
    if (revealed === 1 && of + 1n === epoch && stakes.has(validator))
      reward(work, validator, (validatorPart * stakes.get(validator)!) / allStake)
  const open = reports.filter((report) => report.epoch >= epoch)
  if (open.length < reports.length) state.reports = StateType.fields.reports.toViewDU(open)
}

/** Sets every box's score and every account's capacity; returns the scores above 0. */
function judgeBoxes({ state, accounts }: EpochWork, stakes: Map<number, bigint>, allStake: bigint) {
  const capacities = new Map<number, bigint>()
  const scores: { account: number; score: bigint }[] = []
  for (const [i, box] of valuesOf(state.boxes).entries()) {
    if (box.account === 0) continue
    const median = (what: 'score' | 'capacity') => {
      const opinions = box.reports.flatMap((report) => {
        const stake = stakes.get(report.validator)
        return stake === undefined ? [] : [{ value: faded(report[what], state.epoch - report.epoch), stake }]
      })
      return allStake === 0n ? 0n : stakeMedian(opinions, allStake)
    }
    const [score, capacity] = [median('score'), median('capacity')]
    if (score !== box.score) state.boxes.get(i).score = score
    if (capacity !== box.capacity) state.boxes.get(i).capacity = capacity
    if (score > 0n) scores.push({ account: box.account - 1, score })
    capacities.set(box.account - 1, (capacities.get(box.account - 1) ?? 0n) + capacity)
  }
  for (const [place, before] of accounts.capacity.getAll().entries()) {
    const now = capacities.get(place) ?? 0n
    if (now !== before) accounts.capacity.set(place, now < MOST_CAPACITY ? now : MOST_CAPACITY)
  }
  return scores
}

/** So that sums over all accounts stay far from 2^64, whatever validators say of one. */
const MOST_CAPACITY = 1n << 56n
