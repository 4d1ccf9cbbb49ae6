import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  combined,
  creditWithin,
  decayAndAdd,
  EIGHT_WEEKLY,
  quality,
  trainingBurn,
  votingWeightOf,
  WEEKLY,
  weightOf,
} from './accounting.ts'
import { estimatedFlop, FLOP_PER_MICRO_UT, flop, MICRO_UT_PER_UT, workOf } from './workUnits.ts'

const vectors = JSON.parse(readFileSync(new URL('../../../test/vectors/accounting.json', import.meta.url), 'utf8'))
const ut = (count: bigint) => count * MICRO_UT_PER_UT
const HOURLY = ut(1n)
const WEEK = 168

/** The rate after so many epochs with the same work in each. */
function rateAfter(epochs: number, rate: bigint, work: bigint, decay = WEEKLY): bigint {
  let left = rate
  for (let epoch = 0; epoch < epochs; epoch++) left = decayAndAdd(left, work, decay)
  return left
}

function epochsUntilGone(rate: bigint): number {
  let epochs = 0
  for (let left = rate; left > 0n; left = decayAndAdd(left, 0n, WEEKLY)) epochs++
  return epochs
}

describe('effective power', () => {
  test('equals the vectors of the specification', () => {
    expect(rateAfter(WEEK, 0n, HOURLY)).toBe(11_999_936n)
    const steady = rateAfter(60 * WEEK, 0n, HOURLY)
    expect(steady).toBe(23_999_750n)
    expect(decayAndAdd(steady, HOURLY, WEEKLY)).toBe(steady)
    const idle = rateAfter(WEEK, steady, 0n)
    expect(idle).toBe(11_999_813n)
    expect(epochsUntilGone(idle)).toBe(2759)
    const burst = decayAndAdd(0n, ut(200n), WEEKLY)
    expect(burst).toBe(19_763_406n)
    expect(epochsUntilGone(burst)).toBe(2880)
  })

  test('the decays are the largest that halve in a week and in eight', () => {
    for (const [decay, epochs] of [
      [WEEKLY, 168n],
      [EIGHT_WEEKLY, 1344n],
    ] as const) {
      expect(2n * decay ** epochs <= 2n ** (64n * epochs)).toBe(true)
      expect(2n * (decay + 1n) ** epochs > 2n ** (64n * epochs)).toBe(true)
    }
    expect([String(WEEKLY), String(EIGHT_WEEKLY)]).toEqual([vectors.decays.week, vectors.decays.eightWeeks])
  })

  test('equals the independent implementation', () => {
    const decays: Record<string, bigint> = { week: WEEKLY, eightWeeks: EIGHT_WEEKLY }
    for (const { rate, work, halfLife, next } of vectors.steps)
      expect(decayAndAdd(BigInt(rate), BigInt(work), decays[halfLife]!)).toBe(BigInt(next))
  })

  const amount = fc.bigInt({ min: 0n, max: 2n ** 60n })

  test('splitting work or accounts never gains, and loses less than two units an epoch', () => {
    fc.assert(
      fc.property(amount, amount, amount, amount, (r1, w1, r2, w2) => {
        const apart = decayAndAdd(r1, w1, WEEKLY) + decayAndAdd(r2, w2, WEEKLY)
        const lost = decayAndAdd(r1 + r2, w1 + w2, WEEKLY) - apart
        expect(lost >= 0n && lost <= 2n).toBe(true)
      }),
    )
  })

  test('steady work settles at most 486 units below its rate, so that a thousand accounts keep 98 % of one', () => {
    const steady = (work: bigint) => {
      let rate = work < 100n ? 0n : 24n * work - 2400n
      for (let next = rate; ; rate = next) {
        next = decayAndAdd(rate, work, WEEKLY)
        if (next === rate) return rate
      }
    }
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), (work) => {
        const bias = 24n * work - steady(work)
        expect(bias >= 0n && bias <= 486n).toBe(true)
      }),
    )
    const kept = (1000n * 1000n * steady(HOURLY / 1000n)) / steady(HOURLY)
    expect(kept).toBeGreaterThan(979n)
    expect(kept).toBeLessThan(1000n)
  })

  test('work settled late is worth what it would have become, never more', () => {
    fc.assert(
      fc.property(amount, fc.integer({ min: 1, max: 400 }), (work, late) => {
        const pending = rateAfter(late, decayAndAdd(0n, work, WEEKLY), 0n)
        const account = rateAfter(late, decayAndAdd(ut(5n), work, WEEKLY), 0n)
        const settledNow = rateAfter(late, decayAndAdd(ut(5n), 0n, WEEKLY), 0n) + pending
        expect(settledNow <= account && account - settledNow <= BigInt(late) + 1n).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('a year of work hoarded and settled at once is worth no more than a year at its rate', () => {
    const year = 52 * WEEK
    let hoarded = 0n
    for (let [age, pending] = [0, decayAndAdd(0n, HOURLY, WEEKLY)]; age < year; age++) {
      hoarded += pending
      pending = decayAndAdd(pending, 0n, WEEKLY)
    }
    const honest = rateAfter(year, 0n, HOURLY)
    expect(hoarded <= honest && honest - hoarded < honest / 100n).toBe(true)
  })
})

describe('weight', () => {
  test('equals the independent implementation', () => {
    for (const { drilled, trained, failed, settled, quality: q, weight, votingWeight } of vectors.weights) {
      const power = {
        drilled: BigInt(drilled),
        trained: BigInt(trained),
        failed: BigInt(failed),
        settled: BigInt(settled),
      }
      expect(quality(power.drilled, power.failed)).toBe(BigInt(q))
      expect([String(weightOf(power)), String(votingWeightOf(power))]).toEqual([weight, votingWeight])
    }
  })

  test('is 0.4 of drilling and 0.6 of training, and drilling that fails half the time is worth nothing', () => {
    const none = { drilled: 0n, trained: 0n, failed: 0n, settled: 0n }
    expect(weightOf({ ...none, drilled: ut(10n) })).toBe(ut(4n))
    expect(weightOf({ ...none, trained: ut(10n) })).toBe(ut(6n))
    expect(weightOf({ ...none, drilled: ut(10n), failed: ut(10n) })).toBe(ut(2n))
    expect(weightOf({ ...none, drilled: ut(10n), failed: ut(10n) + 1n })).toBe(0n)
    expect(weightOf({ ...none, trained: 2n ** 100n })).toBe(2n ** 64n - 1n)
    expect(combined(ut(10n), ut(10n), 256n)).toBe(ut(10n))
  })

  test('rented power has under a third of its vote after a day, under two thirds after four weeks, all after eight', () => {
    const votes = (epochs: number) => {
      const settled = rateAfter(epochs, 0n, (HOURLY * 6n) / 10n, EIGHT_WEEKLY)
      const power = { drilled: 0n, trained: rateAfter(epochs, 0n, HOURLY), failed: 0n, settled }
      return Number(votingWeightOf(power)) / Number(weightOf(power))
    }
    expect(votes(24)).toBeLessThan(1 / 3)
    expect(votes(4 * WEEK)).toBeLessThan(2 / 3)
    expect(votes(8 * WEEK)).toBe(1)
  })

  test('work beyond 11/10 of the proven capacity is not credited', () => {
    for (const { capacity, used, work, credit } of vectors.credits)
      expect(creditWithin(BigInt(capacity), BigInt(used), BigInt(work))).toBe(BigInt(credit))
  })

  test('training burns what its extra weight earns', () => {
    for (const { blockPart, total, burn } of vectors.burns)
      expect(trainingBurn(BigInt(blockPart), 0n, BigInt(total))).toBe(BigInt(burn))
    // A unit of the vote part is paid whole, one of the block part by 0.475.
    expect(trainingBurn(0n, 19_000n, 10n ** 9n)).toBe(trainingBurn(40_000n, 0n, 10n ** 9n))
    expect(() => trainingBurn(1n, 1n, 0n)).toThrow(RangeError)
  })
})

describe('work', () => {
  test('equals the independent implementation, rounded down once', () => {
    for (const { operations, work } of vectors.works) {
      const counts = Object.entries(operations as Record<string, string>).map(([kind, count]) => [kind, BigInt(count)])
      expect(workOf(Object.fromEntries(counts))).toBe(BigInt(work))
    }
  })

  test('200 ut are a day at 1 GFLOPS; 400 TFLOPS make 8e7 ut a day', () => {
    expect(FLOP_PER_MICRO_UT * MICRO_UT_PER_UT).toBe((10n ** 9n * 86_400n) / 200n)
    expect(workOf({ fp32: 10n ** 9n * 86_400n })).toBe(ut(200n))
    expect(workOf({ fp32: 400n * 10n ** 12n * 86_400n })).toBe(ut(80_000_000n))
  })

  test('known trainings cost what the specification says', () => {
    const inUt = (operations: bigint) => Number(workOf({ fp32: operations })) / 1e6
    expect(inUt(estimatedFlop.training(17024n, 49152n))).toBeCloseTo(0.0116, 4)
    expect(inUt(estimatedFlop.training(124_000_000n, 10n ** 10n)) / 1e7).toBeCloseTo(1.72, 2)
    expect(inUt(estimatedFlop.training(7n * 10n ** 9n, 140n * 10n ** 9n)) / 1e10).toBeCloseTo(1.36, 2)
    expect(estimatedFlop.lora(3n, 5n)).toBe(60n)
    expect(estimatedFlop.attention(2n, 3n, 5n, 7n)).toBe(12n * 2n * 3n * 5n * 7n)
  })

  test('the formulas equal the products counted one by one', () => {
    const size = fc.integer({ min: 1, max: 5 })
    fc.assert(
      fc.property(size, size, size, size, size, fc.integer({ min: 1, max: 3 }), (b, i, o, h, w, k) => {
        const big = BigInt
        // A dense layer is a convolution over one place; its first backward pass is one product of the same size.
        const dense = flop.dense(big(b), big(i), big(o))
        expect(dense).toBe(2n * big(b * i * o))
        expect(flop.denseBackward(big(b), big(i), big(o), true)).toBe(dense)
        expect(flop.denseBackward(big(b), big(i), big(o), false)).toBe(2n * dense)
        const shape = { batch: big(b), outputs: big(o), height: big(h), width: big(w), inputs: big(i), kernel: big(k) }
        expect(flop.convolution(shape)).toBe(flop.dense(big(b * h * w), big(i * k * k), big(o)))
        // Scores and values: two products of tokens x tokens x width; a causal one has its lower triangle alone.
        expect(flop.attention(big(b), big(h), big(w))).toBe(2n * flop.dense(big(b * h), big(w), big(h)))
        const pairs = Array.from({ length: h }, (_, token) => token + 1).reduce((sum, seen) => sum + seen, 0)
        expect(flop.causalAttention(big(b), big(h), big(w))).toBe(4n * big(b * pairs * w))
      }),
    )
  })
})
