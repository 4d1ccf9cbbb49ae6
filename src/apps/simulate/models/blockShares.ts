import { ascii } from '../../../core/bytes/bytes.ts'
import { taggedHash } from '../../../core/bytes/sha256.ts'
import { lotteryNumber, slotAlpha } from '../../../core/chain/lottery.ts'
import { arrivalOf, thresholdFor } from '../../../core/chain/threshold.ts'
import { LEADERS, makeAccounts } from '../simLedger.ts'
import type { SimulatedCrypto } from '../standIns.ts'
import { xoshiro } from '../xoshiro.ts'
import { atLeast, atMost, type Report } from './report.ts'

const threshold = thresholdFor(LEADERS)

/** How two winners of one slot are told apart. */
export type TieRule = 'arrival' | 'lowerNumber'

/** How many primary blocks each weight made in so many slots, each slot's tie decided by the rule. */
export function primaryCounts(
  weights: readonly bigint[],
  slots: number,
  seed: string,
  crypto: SimulatedCrypto,
  rule: TieRule,
): number[] {
  const accounts = makeAccounts(weights.length, seed, crypto)
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  const limits = weights.map((weight) => threshold(weight, total))
  const [genesis, eta] = [taggedHash('simulate/shares', ascii(seed)), taggedHash('simulate/eta', ascii(seed))]
  const made = weights.map(() => 0)
  for (let slot = 0; slot < slots; slot++) {
    const alpha = slotAlpha(genesis, eta, BigInt(slot))
    const winners = accounts.flatMap(({ vrfKey }, place) => {
      const number = lotteryNumber(vrfKey.evaluate(alpha))
      return number < limits[place]! ? [{ place, number }] : []
    })
    const rank = ({ place, number }: { place: number; number: bigint }) =>
      winners.length === 1 || rule === 'lowerNumber' ? number : arrivalOf(number, weights[place]!, total)
    const ranked = winners.map((winner) => ({ place: winner.place, rank: rank(winner) }))
    if (ranked.length > 0) made[ranked.reduce((best, each) => (each.rank < best.rank ? each : best)).place]!++
  }
  return made
}

/** The chance of a sum of squares at least as large, if the shares are right (Wilson and Hilferty). */
export function chiSquared(counts: readonly number[], weights: readonly bigint[]): number {
  const [sum, total] = [counts.reduce((a, b) => a + b, 0), Number(weights.reduce((a, b) => a + b, 0n))]
  const expected = weights.map((weight) => (sum * Number(weight)) / total)
  const statistic = counts.reduce((all, count, i) => all + (count - expected[i]!) ** 2 / expected[i]!, 0)
  const free = counts.length - 1
  const z = ((statistic / free) ** (1 / 3) - (1 - 2 / (9 * free))) / Math.sqrt(2 / (9 * free))
  return upperTail(z)
}

/** 1 - Phi(z), to seven digits (Abramowitz and Stegun 26.2.17). */
function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z)
  const t = 1 / (1 + 0.2316419 * z)
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series
}

/** Blocks follow weight; half of the weight in one hand makes as many whole as in a hundred parts. */
export function blockShares(crypto: SimulatedCrypto, seed: string, slots: number): Report {
  const draw = xoshiro(`${seed}/weights`)
  const weights = Array.from({ length: 20 }, () => BigInt(1_000 + draw.below(100_000)))
  const counts = primaryCounts(weights, slots, seed, crypto, 'arrival')
  const [sum, total] = [counts.reduce((a, b) => a + b, 0), Number(weights.reduce((a, b) => a + b, 0n))]
  const splitShare = (rule: TieRule) => {
    const split = [5_000n, ...Array.from({ length: 100 }, () => 50n)]
    const made = primaryCounts(split, Math.ceil(slots / 5), `${seed}/split`, crypto, rule)
    const all = made.reduce((a, b) => a + b, 0)
    return { share: (all - made[0]!) / all, sigma: 0.5 / Math.sqrt(all) }
  }
  const [ours, lower] = [splitShare('arrival'), splitShare('lowerNumber')]
  return {
    name: 'blocks',
    findings: [
      atLeast(
        `primary blocks of ${slots} slots against weight: chance of such counts (chi-squared)`,
        chiSquared(counts, weights),
        0.001,
      ),
      atMost(
        'half of the weight in 100 parts: share of blocks beyond 1/2, in standard deviations',
        (ours.share - 0.5) / ours.sigma,
        3,
      ),
      atLeast(
        'the same under "the lower number wins a tie": share of blocks, which is why that rule is not used',
        lower.share,
        0.52,
      ),
    ],
    charts: [
      {
        name: 'block-share',
        title: `Primary blocks against weight, ${slots} slots`,
        x: 'share of weight',
        y: 'share of blocks',
        isScatter: true,
        lines: [{ name: 'accounts', points: counts.map((count, i) => [Number(weights[i]!) / total, count / sum]) }],
      },
    ],
  }
}
