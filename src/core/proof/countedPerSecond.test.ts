import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countedPerSecond, figuresOf } from './figures.ts'
import type { Run } from './verifyPart.ts'

/** A rounds part with these arrivals, one list per device. */
function runOf(arrivals: readonly (readonly number[])[]): Run {
  const rounds = arrivals[0]!.length
  const part = { kind: 'rounds', precision: 'int8', m: 64, n: 64, k: 64, rounds, mask: 0, kept: [] }
  const devices = arrivals.map((arrivalsUs, device) => ({ device, arrivalsUs, roots: [], openings: new Uint8Array(0) }))
  return { challenge: { parts: [part] }, parts: [{ zSentUs: null, devices }] } as unknown as Run
}

const counted = (run: Run): number[] => figuresOf(run).map((figure) => countedPerSecond(run, figure))
const shown = (run: Run): number[] => figuresOf(run).map(({ perSecond }) => perSecond)

const speed = fc.double({ min: 0.05, max: 1, noNaN: true })
const ROUNDS = 50
const WORK = 2 * 64 ** 3

describe('what counts of rates shown together', () => {
  test('property: steady devices of any speeds lose nothing', () => {
    fc.assert(
      fc.property(fc.array(speed, { minLength: 1, maxLength: 8 }), (speeds) => {
        const run = runOf(
          speeds.map((rate) => Array.from({ length: ROUNDS }, (_, i) => Math.ceil((1e6 * (i + 1)) / rate))),
        )
        expect(counted(run)).toEqual(shown(run))
      }),
    )
  })

  test('property: attack 48, one card that serves many chains in any order adds up to one card and a round each', () => {
    const order = fc.tuple(fc.integer({ min: 2, max: 8 }), fc.array(fc.nat(7), { minLength: 400, maxLength: 400 }))
    fc.assert(
      fc.property(order, ([devices, picks]) => {
        const arrivals = Array.from({ length: devices }, () => [] as number[])
        let turn = 0
        for (let done = 1; arrivals.some((list) => list.length < ROUNDS); done++) {
          let next = picks[turn++ % picks.length]! % devices
          while (arrivals[next]!.length === ROUNDS) next = (next + 1) % devices
          arrivals[next]!.push(1000 * done)
        }
        const run = runOf(arrivals)
        const card = WORK / 1e-3
        const firstDone = Math.min(...arrivals.map((list) => list.at(-1)!)) / 1e6
        const total = counted(run).reduce((sum, rate) => sum + rate, 0)
        expect(total).toBeLessThanOrEqual(card + ((devices - 1) * WORK) / firstDone)
      }),
    )
  })

  test('attack 48: served one after the other, eight devices show 2.7 cards and count as little more than one', () => {
    const run = runOf(
      Array.from({ length: 8 }, (_, d) => Array.from({ length: ROUNDS }, (_, i) => 1000 * (d * ROUNDS + i + 1))),
    )
    const cards = (rates: number[]) => rates.reduce((sum, rate) => sum + rate, 0) / (WORK / 1e-3)
    expect(cards(shown(run))).toBeGreaterThan(2.7)
    expect(cards(counted(run))).toBeLessThan(1.15)
  })
})
