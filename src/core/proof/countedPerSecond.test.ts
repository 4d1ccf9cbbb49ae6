import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cardsShown, oneCardSchedule, runOf, worstOf } from '../../../test/support/oneCard.ts'
import { countedPerSecond, figuresOf } from './figures.ts'

const speed = fc.double({ min: 0.05, max: 1, noNaN: true })
const ROUNDS = 50

/** Devices that do a round in 1 s over their speed each, without a pause. */
const steady = (speeds: readonly number[]) =>
  runOf(speeds.map((rate) => Array.from({ length: ROUNDS }, (_, i) => Math.ceil((1e6 * (i + 1)) / rate))))

const served = (devices: number, rounds: number, arrival: (device: number, round: number) => number) =>
  runOf(Array.from({ length: devices }, (_, d) => Array.from({ length: rounds }, (_, i) => arrival(d, i))))

describe('what counts of rates shown together', () => {
  test('property: of steady devices of any speeds none loses more than the round under way', () => {
    fc.assert(
      fc.property(fc.array(speed, { minLength: 1, maxLength: 8 }), (speeds) => {
        const run = steady(speeds)
        const shown = figuresOf(run).map(({ perSecond }) => perSecond)
        expect(countedPerSecond(run, 1)).toEqual(shown)
        const fastest = Math.max(...speeds)
        countedPerSecond(run, 2).forEach((counted, d) => {
          const underWay = fastest / speeds[d]! / ROUNDS
          expect(counted).toBeGreaterThan((1 - 2 * underWay - 1e-6) * shown[d]!)
          expect(counted).toBeLessThan((1 + 1e-5) * shown[d]!)
        })
      }),
    )
  })

  test('the fastest of steady devices loses nothing, however slow the others are', () => {
    const run = steady([1, 0.1, 0.3])
    expect(countedPerSecond(run, 2)[0]).toBe(figuresOf(run)[0]!.perSecond)
  })

  test('a last root that is held up costs nothing under version 2, a burst at the start wins nothing', () => {
    const heldUp = runOf([[...Array.from({ length: 9 }, (_, i) => 1000 * (i + 1)), 18_000]])
    const burst = runOf([Array.from({ length: 10 }, (_, i) => (i < 4 ? i + 1 : 1000 * (i + 1)))])
    expect(cardsShown(heldUp, 1, 1000)).toBeCloseTo(10 / 18, 6)
    expect(cardsShown(heldUp, 2, 1000)).toBe(1)
    expect(cardsShown(burst, 2, 1000)).toBe(1)
  })

  test('property: attacks 48 and 71, one card that serves up to 32 series in any way never counts as more than itself', () => {
    const { ratio } = worstOf(oneCardSchedule(), 2, 400)
    expect(ratio).toBeLessThanOrEqual(1)
    expect(ratio).toBeGreaterThan(0.99)
  })

  test('the rule of version 1 does not have that property', () => {
    expect(worstOf(oneCardSchedule(), 1, 400).ratio).toBeGreaterThan(1.5)
  })

  test('attack 71: served one after the other, sixteen devices of eight rounds counted as 2.5 cards, and as one now', () => {
    const run = served(16, 8, (d, i) => 1000 * (8 * d + i + 1))
    expect(cardsShown(run, 1, 1000)).toBeGreaterThan(2.5)
    expect(cardsShown(run, 2, 1000)).toBe(1)
  })

  test('attack 48: served one after the other, eight devices show 2.7 cards and count as little more than one', () => {
    const run = served(8, ROUNDS, (d, i) => 1000 * (d * ROUNDS + i + 1))
    const shown = figuresOf(run).reduce((sum, { perSecond }) => sum + perSecond, 0) / (2 * 64 ** 3 * 1000)
    expect(shown).toBeGreaterThan(2.7)
    expect(cardsShown(run, 1, 1000)).toBeLessThan(1.15)
    expect(cardsShown(run, 2, 1000)).toBe(1)
  })
})
