import { ascii } from '../../../core/bytes/bytes.ts'
import { taggedHash } from '../../../core/bytes/sha256.ts'
import { lotteryNumber, slotAlpha } from '../../../core/chain/lottery.ts'
import { thresholdFor } from '../../../core/chain/threshold.ts'
import { LEADERS, makeAccounts } from '../simLedger.ts'
import type { SimulatedCrypto } from '../standIns.ts'
import { type Chance, xoshiro } from '../xoshiro.ts'
import { atMost, type Report } from './report.ts'

const EPOCH = 600
const F = 0.25
/** How far from the end of an epoch a fork can start: the chance of more is nil. */
const WINDOW = 16
/** Ways to end an epoch that are tried out: more would cost more hashes than blocks are worth. */
const MOST_WAYS = 1024

const normal = (chance: Chance): number =>
  Math.sqrt(-2 * Math.log(1 - chance.unit())) * Math.cos(2 * Math.PI * chance.unit())

interface Slot {
  readonly own: boolean
  readonly others: boolean
  readonly ownSecondary: boolean
}

/**
 * What each way to end an epoch costs its author, in blocks of its own that are lost; the first is honesty, which costs
 * nothing. Eta follows from the primaries that stay: of its own any it likes, of others all, or none after a fork that wins.
 */
function waysToEnd(slots: readonly Slot[]): number[] {
  const costs = new Map([['0/0', 0]])
  let [mine, theirs, own, dropped] = [0, 0, 0, 0]
  for (const slot of slots.toReversed()) {
    if (slot.own) own++
    if (slot.others) dropped++
    mine += slot.own ? 4 : slot.ownSecondary ? 1 : 0
    theirs += slot.others ? 4 : slot.ownSecondary ? 0 : 1
    for (let mask = 0; mask < 1 << own; mask++) {
      if (costs.size >= MOST_WAYS) return [...costs.values()]
      const left = ones(mask)
      if (theirs === 0 || mine - 4 * left > theirs) costs.set(`${dropped}/${mask}`, left)
    }
  }
  return [...costs.values()]
}

function ones(mask: number): number {
  let count = 0
  for (let left = mask; left > 0; left &= left - 1) count++
  return count
}

/** Blocks won by choosing how an epoch ends, over blocks won by honesty, less 1. */
export function etaGrinding(share: number, epochs: number, seed: string): number {
  const chance = xoshiro(seed)
  const [wins, othersWin] = [1 - (1 - F) ** share, 1 - (1 - F) ** (1 - share)]
  const [mean, sigma] = [EPOCH * wins, Math.sqrt(EPOCH * wins * (1 - wins))]
  let gained = 0
  for (let epoch = 0; epoch < epochs; epoch++) {
    const slots = Array.from({ length: WINDOW }, () => ({
      own: chance.unit() < wins,
      others: chance.unit() < othersWin,
      ownSecondary: chance.unit() < share,
    }))
    const [honesty, ...others] = waysToEnd(slots).map((cost) => sigma * normal(chance) - cost)
    gained += Math.max(0, ...others.map((way) => way - honesty!))
  }
  return gained / epochs / mean
}

/** Blocks of the best of many keys, chosen by an eta, under that eta and under one that nobody knew then; 1 is no gain. */
export function keyGrinding(keys: number, crypto: SimulatedCrypto, seed: string): { known: number; unknown: number } {
  const accounts = makeAccounts(keys, `${seed}/keys`, crypto)
  const limit = thresholdFor(LEADERS)(1n, 100n)
  const expected = EPOCH * (Number(limit >> 192n) / 2 ** 64)
  const winsOf = (eta: string) => {
    const counts = accounts.map(() => 0)
    for (let slot = 0; slot < EPOCH; slot++) {
      const alpha = slotAlpha(taggedHash('grinding', ascii(seed)), taggedHash('eta', ascii(eta)), BigInt(slot))
      for (const [number, { vrfKey }] of accounts.entries())
        if (lotteryNumber(vrfKey.evaluate(alpha)) < limit) counts[number]!++
    }
    return counts
  }
  const chosen = winsOf('known')
  const best = chosen.indexOf(Math.max(...chosen))
  const later = [1, 2, 3, 4, 5, 6, 7, 8].map((epoch) => winsOf(`later ${epoch}`)[best]! / expected)
  return { known: chosen[best]! / expected, unknown: later.reduce((a, b) => a + b, 0) / later.length }
}

/** Choosing how an epoch ends, and choosing keys. */
export function grinding(crypto: SimulatedCrypto, seed: string, epochs: number): Report {
  const gain = (share: number) => etaGrinding(share, epochs, `${seed}/${share}`)
  const keys = keyGrinding(64, crypto, seed)
  const shares = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.33]
  return {
    name: 'grinding',
    findings: [
      atMost('choosing how an epoch ends, a tenth of weight: more blocks', gain(0.1), 0.012),
      atMost('the same, a third of weight', gain(1 / 3), 0.039),
      // 8 epochs of 1.7 blocks each: three standard deviations are 0.8.
      atMost('the best of 64 keys once eta is new: blocks over the usual', keys.unknown, 1.8),
    ],
    charts: [
      {
        name: 'grinding',
        title: 'Blocks gained by choosing how an epoch ends',
        x: 'share of weight',
        y: 'more blocks',
        lines: [{ name: 'gain', points: shares.map((share) => [share, gain(share)] as const) }],
      },
    ],
  }
}
