import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../bytes/hex.ts'
import { blockRandomness, lotteryNumber, nextEta, secondaryAuthor, slotAlpha } from './lottery.ts'
import { type Fraction, thresholdFor } from './threshold.ts'
import { votingSet } from './votingSet.ts'
import { weightedDraw } from './weightedDraw.ts'

const vectors = JSON.parse(readFileSync(new URL('../../../test/vectors/lottery.json', import.meta.url), 'utf8'))
const bytes = (hex: string) => fromHex(hex, hex.length / 2)!
const numbers = (texts: string[]) => texts.map(BigInt)
const hex256 = (value: bigint) => value.toString(16).padStart(64, '0')
const quarter: Fraction = { numerator: 1n, denominator: 4n }
const threshold = thresholdFor(quarter)
const weight = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

describe('the threshold', () => {
  test('equals the vectors of the specification', () => {
    expect(hex256(threshold(1n, 1n))).toBe(`3${'f'.repeat(63)}`)
    expect(hex256(threshold(1n, 2n))).toMatch(/^224c28bd3d9aac62/)
    expect(hex256(threshold(1n, 3n))).toMatch(/^176897a872ec0861/)
    expect(hex256(threshold(1n, 1000n))).toMatch(/^0012d9cf61cc8fd6/)
  })

  test('equals the independent implementation to the last bit', () => {
    for (const { f, weight, total, threshold } of vectors.thresholds) {
      const [numerator, denominator] = numbers(f) as [bigint, bigint]
      expect(hex256(thresholdFor({ numerator, denominator })(BigInt(weight), BigInt(total)))).toBe(threshold)
    }
  })

  test('is the root it stands for: (1 - T/2^256)^W brackets (1 - f)^w', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(40), (total, part) => {
        const [w, n] = [BigInt(Math.min(part, total)), BigInt(total)]
        const rest = 2n ** 256n - threshold(w, n)
        const scaled = (3n * 2n ** 256n) ** w * (4n * 2n ** 256n) ** (n - w)
        expect(rest ** n * 4n ** n >= scaled).toBe(true)
        expect((rest - 1n) ** n * 4n ** n <= scaled).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  test('grows with weight, and splitting an identity gains nothing', () => {
    fc.assert(
      fc.property(weight, weight, weight, (a, b, others) => {
        const total = a + b + others + 1n
        const lost = (w: bigint) => 2n ** 256n - threshold(w, total)
        expect(threshold(a, total) <= threshold(a + b, total)).toBe(true)
        // Both parts lose as often as the whole does, but for a few units of 2^-256 by rounding.
        const apart = (lost(a) * lost(b)) >> 256n
        const difference = apart - lost(a + b)
        expect(difference >= -2n && difference <= 4n).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('refuses a weight that is none, and a share that is none', () => {
    for (const [w, total] of [
      [1n, 0n],
      [0n, 0n],
      [-1n, 5n],
      [6n, 5n],
      [-1n, -1n],
    ] as const)
      expect(() => threshold(w, total)).toThrow(RangeError)
    for (const numerator of [-1n, 4n, 5n])
      expect(() => thresholdFor({ numerator, denominator: 4n })).toThrow(RangeError)
  })
})

describe('the lottery of a slot', () => {
  test('equals the independent implementation', () => {
    for (const { genesis, eta, slot, alpha } of vectors.alphas)
      expect(toHex(slotAlpha(bytes(genesis), bytes(eta), BigInt(slot)))).toBe(alpha)
    for (const { beta, number, randomness } of vectors.outcomes) {
      expect(hex256(lotteryNumber(bytes(beta)))).toBe(number)
      expect(toHex(blockRandomness(bytes(beta)))).toBe(randomness)
    }
    for (const { previous, epoch, randomness, eta } of vectors.etas)
      expect(toHex(nextEta(bytes(previous), BigInt(epoch), randomness.map(bytes)))).toBe(eta)
    for (const { weights, eta, slot, author } of vectors.secondaries)
      expect(secondaryAuthor(weightedDraw(numbers(weights))!, bytes(eta), BigInt(slot))).toBe(author)
  })

  test('a draw gives each entry as many tickets as it weighs', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(6), { maxLength: 12 }), (parts) => {
        const draw = weightedDraw(parts.map(BigInt))
        const total = parts.reduce((sum, part) => sum + part, 0)
        expect(draw === null).toBe(total === 0)
        if (total === 0) return
        const won = parts.map(() => 0)
        for (let ticket = 0; ticket < total; ticket++) won[draw!.at(BigInt(ticket))]!++
        expect(won).toEqual(parts)
        expect(draw!.at(BigInt(total) + 1n)).toBe(draw!.at(1n % BigInt(total)))
      }),
    )
    expect(() => weightedDraw([1n, -1n])).toThrow(RangeError)
  })
})

describe('the voting set', () => {
  const draw = (weights: readonly bigint[], eta: Uint8Array, exact: number, seats: number) =>
    votingSet(weights, eta, { exact, seats }).voters.map(({ index, weight }) => [index, String(weight)])

  test('equals the independent implementation', () => {
    for (const { weights, eta, exact, seats, voters } of vectors.votingSets)
      expect(draw(numbers(weights), bytes(eta), exact, seats)).toEqual(voters)
  })

  test('all weight stands behind it but for less than a unit a seat; nobody is in it twice', () => {
    const eta = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(
        fc.array(weight, { maxLength: 40 }),
        eta,
        fc.nat(20),
        fc.integer({ min: 1, max: 50 }),
        (all, e, exact, seats) => {
          const { voters, total } = votingSet(all, e, { exact, seats })
          const missing = all.reduce((sum, each) => sum + each, 0n) - total
          expect(missing >= 0n && missing < BigInt(seats)).toBe(true)
          expect(new Set(voters.map(({ index }) => index)).size).toBe(voters.length)
          expect(voters.length).toBeLessThanOrEqual(exact + seats)
          expect(voters.every(({ weight }) => weight > 0n)).toBe(true)
        },
      ),
    )
  })
})
