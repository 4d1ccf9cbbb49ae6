import { decayAndAdd, EIGHT_WEEKLY, trainingBurn, WEEKLY } from '../../../core/chain/accounting.ts'
import { issuanceOf, partOf } from '../../../core/chain/ledger.ts'
import { CHAIN_PRESETS } from '../../../core/chain/params.ts'
import { MICRO_UT_PER_UT } from '../../../core/chain/workUnits.ts'
import { atLeast, atMost, type Chart, type Report } from './report.ts'

const WEEK = 168
const YEAR = 52 * WEEK
/** Work of the whole network in an epoch: large, so that rounding plays no part. */
const NETWORK = 10n ** 12n

const rateAfter = (epochs: number, work: bigint, decay: bigint, start = 0n): bigint => {
  let rate = start
  for (let epoch = 0; epoch < epochs; epoch++) rate = decayAndAdd(rate, work, decay)
  return rate
}

/** Days of the whole network's computing that rented power needs for this share, renting so many times its size. */
export function rentFor(share: number, times: bigint, isVote: boolean): number {
  const honest = rateAfter(60 * WEEK, NETWORK, WEEKLY)
  let [rate, settled] = [0n, 0n]
  for (let epoch = 1; ; epoch++) {
    rate = decayAndAdd(rate, times * NETWORK, WEEKLY)
    settled = decayAndAdd(settled, times * NETWORK, EIGHT_WEEKLY)
    const power = isVote && 2n * settled < rate ? 2n * settled : rate
    if (Number(power) / Number(power + honest) >= share) return (Number(times) * epoch) / 24
  }
}

/** Credit of a year, or a month, hoarded and settled at once, over the credit of one who settles at once all the time. */
export function hoarded(epochs: number): number {
  const work = NETWORK
  let sum = 0n
  let pending = decayAndAdd(0n, work, WEEKLY)
  for (let age = 0; age < epochs; age++) {
    sum += pending
    pending = decayAndAdd(pending, 0n, WEEKLY)
  }
  return Number(sum) / Number(rateAfter(epochs, work, WEEKLY))
}

/**
 * Income of a wash trainer, who pays itself and burns phi, over that of a driller of the same power, for a year. The power
 * of all others shrinks or grows by `growth` a week.
 */
export function washTraining(growth: number, isVotePartBurned: boolean): number {
  const params = CHAIN_PRESETS.mainnet
  const [blocks, votes] = [partOf('blockShare', 0n, params), partOf('voteShare', 0n, params)]
  let others = 1e15
  const work = 1_000n
  let [rate, burned, drilled, trained] = [0n, 0n, 0, 0]
  for (let epoch = 0; epoch < YEAR; epoch++) {
    others *= growth ** (1 / WEEK)
    const total = BigInt(Math.round(others))
    rate = decayAndAdd(rate, work * MICRO_UT_PER_UT, WEEKLY)
    burned += work * trainingBurn(blocks, isVotePartBurned ? votes : 0n, total)
    // All of a quarter of the slots and 30 % of the rest, and the vote part.
    const paid = (Number(blocks) * 0.475 + Number(votes)) / (others + Number(rate))
    drilled += 0.4 * Number(rate) * paid
    trained += 0.6 * Number(rate) * paid
  }
  return (trained - Number(burned)) / drilled
}

/** Weight that is left of the same work in so many accounts. */
export function splitAccounts(accounts: bigint): number {
  const work = 50_000n
  const whole = rateAfter(20 * WEEK, work, WEEKLY)
  return Number(accounts * rateAfter(20 * WEEK, work / accounts, WEEKLY)) / Number(whole)
}

function creditOverTime(): Chart {
  const [hourly, points, votes]: [bigint, [number, number][], [number, number][]] = [MICRO_UT_PER_UT, [], []]
  let [rate, settled] = [0n, 0n]
  for (let epoch = 0; epoch <= 12 * WEEK; epoch++) {
    const work = epoch < 6 * WEEK ? hourly : 0n
    rate = decayAndAdd(rate, work, WEEKLY)
    settled = decayAndAdd(settled, work, EIGHT_WEEKLY)
    if (epoch % 24 === 0) {
      points.push([epoch / WEEK, Number(rate) / 1e6])
      votes.push([epoch / WEEK, Number(2n * settled < rate ? 2n * settled : rate) / 1e6])
    }
  }
  return {
    name: 'credit',
    title: 'Six weeks of 1 ut an hour, then nothing',
    x: 'weeks',
    y: 'ut a day',
    lines: [
      { name: 'power in the lottery', points },
      { name: 'power in votes', points: votes },
    ],
  }
}

/** Rented power, hoarded credit, wash training, many accounts. */
export function economy(): Report {
  const params = CHAIN_PRESETS.mainnet
  let issued = 0n
  for (let year = 0n; year < 80n; year++) issued += issuanceOf(year * params.yearEpochs, params) * params.yearEpochs
  return {
    name: 'economy',
    findings: [
      atLeast(
        'a third of the lottery costs days of the whole network, rented at 10 times its size',
        rentFor(1 / 3, 10n, false),
        5,
      ),
      atLeast('half of the lottery', rentFor(1 / 2, 10n, false), 10),
      atLeast('a third of the votes', rentFor(1 / 3, 10n, true), 20),
      atLeast('half of the votes', rentFor(1 / 2, 10n, true), 40),
      atMost('a year of credit settled at once, over the usual', hoarded(YEAR), 1),
      atMost('30 days of credit settled at once, over the usual', hoarded(720), 1),
      atMost('wash training over drilling, a steady network', washTraining(1, true), 1.001),
      atLeast('the same if only what blocks earn is burned, which is why votes are in it', washTraining(1, false), 1.1),
      atMost('wash training over drilling, others shrink by a tenth a week', washTraining(0.9, true), 1.1),
      atMost('the same work in 1,000 accounts: weight left', splitAccounts(1_000n), 1),
      atMost('tokens ever issued', Number(issued / 10n ** 9n), 7.02e8),
    ],
    charts: [creditOverTime()],
  }
}
