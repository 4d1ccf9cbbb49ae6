import { describe, expect, test } from 'vitest'
import { censor, early, equivocate, withhold } from '../adversaries.ts'
import { attackRun } from '../consensusRuns.ts'
import { standInCrypto } from '../standIns.ts'
import { xoshiro } from '../xoshiro.ts'
import { blockShares, chiSquared, primaryCounts } from './blockShares.ts'
import { drilling, drillMany, drillTask } from './drilling.ts'
import { economy } from './economy.ts'
import { etaGrinding, keyGrinding } from './grinding.ts'
import { holds, type Report } from './report.ts'
import { freshness, scoreOf, scores, sharedScore, stakeMedian } from './scores.ts'

const crypto = standInCrypto()
const failedOf = ({ findings }: Report) => findings.filter((finding) => !holds(finding))

describe('primary blocks', () => {
  test('follow weight, and splitting an account gains nothing', () => {
    const [shares, split] = blockShares(crypto, 'shares', 3000).findings
    expect([holds(shares!), holds(split!)]).toEqual([true, true])
  })

  test('the test of shares notices a tenth more', () => {
    const weights = [100n, 100n, 100n]
    expect(chiSquared([1000, 1000, 1000], weights)).toBeGreaterThan(0.9)
    expect(chiSquared([1200, 1000, 800], weights)).toBeLessThan(0.001)
    // 1 degree of freedom: 3.84 is passed in one of twenty.
    expect(chiSquared([1000 + 43.8, 1000 - 43.8], [1n, 1n])).toBeCloseTo(0.05, 2)
    const made = primaryCounts([1n, 1n], 400, 'count', crypto, 'arrival')
    expect((made[0]! + made[1]!) / 400).toBeCloseTo(0.25, 1)
  })
})

describe('drilling, simulated', () => {
  test('attack 20: 5 % liars void 14 % of the tasks in strict mode and under 1 % by default', () => {
    expect(failedOf(drilling('drilling', 20_000))).toEqual([])
    expect(drillMany({ isStrict: true, absent: 0 }, 20_000, 'strict').voided).toBeCloseTo(0.143, 2)
    expect(drillMany({}, 20_000, 'default').voided).toBeLessThan(0.01)
  })

  test('attack 19: who shares results computes once for 1.42 credits at a third of capacity, and no more', () => {
    const chance = xoshiro('pool')
    const [tasks, share] = [40_000, 1 / 3]
    let [credits, computed] = [0, 0]
    for (let task = 0; task < tasks; task++) {
      const drawn = [1, 2, 3].filter(() => chance.unit() < share).length
      credits += drawn
      if (drawn > 0) computed++
    }
    expect(credits / computed).toBeCloseTo(1.42, 1)
  })

  test('one honest replica that appeals is enough', () => {
    const rules = { isStrict: false, replicas: 3, most: 7, liars: 1, absent: 0, deaf: 0 }
    expect(drillTask(rules, xoshiro('liars')).outcome).toBe('forged')
    expect(drillMany({ liars: 0.6, deaf: 0 }, 5000, 'majority').voided).toBe(0)
    expect(drillMany({ liars: 0.6, deaf: 0, absent: 0 }, 5000, 'majority').forged).toBeCloseTo(0.216, 1)
  })
})

describe('scores, simulated', () => {
  test('follow the time a box is there, whatever less than half of stake says', () => {
    expect(failedOf(scores('scores', 300))).toEqual([])
  })

  test('boxes on one machine hold more of it than it has, as §4.5.6 says, and no more', () => {
    expect([1, 2, 8].map((boxes) => sharedScore(boxes, 64, 100, 'shared').toFixed(1))).toEqual(['1.0', '1.9', '4.1'])
  })

  test('a report fades, and the median needs half of all stake', () => {
    expect([0, 12, 24, 36, 99].map(freshness)).toEqual([1, 1, 0.5, 0, 0])
    expect(stakeMedian([0, 0, 1, 1])).toBe(0)
    expect(stakeMedian([0, 1, 1])).toBe(1)
    const gone = { validators: 64, up: 0, idle: 0, liars: 0, rule: 'mean' as const }
    expect(scoreOf(gone, 20, 'gone')).toBe(0)
  })
})

test('rented power, hoarded credit and wash training gain at most what the specification says', () => {
  expect(failedOf(economy())).toEqual([])
})

test('attack 24: grinding keys gains nothing, grinding the end of an epoch a few per cent', () => {
  expect(etaGrinding(0.1, 2000, 'tenth')).toBeLessThan(0.012)
  expect(etaGrinding(1 / 3, 2000, 'third')).toBeLessThan(0.039)
  const { known, unknown } = keyGrinding(24, crypto, 'keys')
  expect(known).toBeGreaterThan(1.8)
  expect(unknown).toBeLessThan(1.8)
})

test.each([withhold, censor, early, equivocate])(
  'attack 24: who breaks the rules ($name) makes no more blocks than its weight',
  (behaviour) => {
    const { primaries, finalSlot, victim, victimWeight } = attackRun(crypto, 'attacks', behaviour, 0.32, 400)
    // Three standard deviations of a hundred primaries.
    expect(primaries).toBeLessThan(0.32 + 0.14)
    expect(finalSlot).toBeGreaterThan(350)
    expect(victim / victimWeight).toBeGreaterThan(0.3)
  },
)
