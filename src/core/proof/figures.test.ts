import fc from 'fast-check'
import { expect, test } from 'vitest'
import { madeUpChallenge, madeUpEvidence, madeUpPart } from '../../../test/support/madeUpRun.ts'
import { formatOps } from '../units/format.ts'
import { figuresOf } from './figures.ts'

const MOST = Number.MAX_SAFE_INTEGER

function figureOf(size: number, rounds: number, elapsedUs: number) {
  const part = madeUpPart({ kind: 'rounds', precision: 'fp8', m: size, n: size, k: 32768, rounds })
  const evidence = madeUpEvidence([{ device: 0, arrivalsUs: [elapsedUs] }])
  return figuresOf({ challenge: madeUpChallenge([part]), parts: [evidence] })[0]!
}

test('property: whatever a device shows, its figure is a count that a certificate can hold, and exact where it can', () => {
  const size = fc.constantFrom(1024, 8192, 32768)
  fc.assert(
    fc.property(size, fc.integer({ min: 1, max: 2 ** 24 }), fc.integer({ min: 0, max: 10_000_000 }), (m, t, us) => {
      const { perSecond, elapsedUs } = figureOf(m, t, us)
      expect(Number.isSafeInteger(perSecond)).toBe(true)
      const exact = (BigInt(t) * 2n * BigInt(m) * BigInt(m) * 32768n * 1_000_000n) / BigInt(elapsedUs)
      expect(BigInt(perSecond)).toBe(exact > BigInt(MOST) ? BigInt(MOST) : exact)
    }),
  )
})

test('more than a certificate can hold is told as the most, and shown as at least that', () => {
  const { perSecond } = figureOf(32768, 1000, 1_000_000)
  expect([perSecond, formatOps(perSecond)]).toEqual([MOST, 'at least 9.01 Pop/s'])
  expect(formatOps(9e15)).toBe('9.00 Pop/s')
})
