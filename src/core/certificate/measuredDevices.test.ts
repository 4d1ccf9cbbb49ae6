import { expect, test } from 'vitest'
import { madeUpChallenge, madeUpEvidence, madeUpPart } from '../../../test/support/madeUpRun.ts'
import { proven } from '../params/provenance.ts'
import type { Run } from '../proof/verifyPart.ts'
import { measuredOf, type ProvenDevice, provenDevices, scalingOf } from './measuredDevices.ts'

const device = (together: number, alonePerSecond: number | null): ProvenDevice =>
  proven({
    device: 0,
    rates: { int8: together },
    classes: {},
    sustained: null,
    memory: null,
    bindPerSecond: null,
    alonePerSecond,
    linkPerSecond: null,
  })

test('C7: devices that share one card show it, and nothing is said where one of them never ran alone', () => {
  expect(scalingOf([device(50, 100), device(50, 100)])).toBe(500)
  expect(scalingOf([device(50, 100), device(50, null)])).toBeNull()
  expect(scalingOf([device(50, 100)])).toBeNull()
  expect(scalingOf([device(50, 0), device(50, 0)])).toBeNull()
})

/** bf16 for 30 rounds, then for 200, with these arrivals. */
function sustainedRun(sent: (round: number) => number): Run {
  const part = madeUpPart({ kind: 'rounds', precision: 'bf16' })
  const shown = (arrivalsUs: readonly number[]) => madeUpEvidence([{ device: 0, arrivalsUs }])
  const rounds = (count: number, arrival: (round: number) => number) =>
    Array.from({ length: count }, (_, i) => Math.round(arrival(i + 1)))
  const parts = [
    { ...part, rounds: 30 },
    { ...part, rounds: 200 },
  ]
  return {
    challenge: madeUpChallenge(parts),
    parts: [shown(rounds(30, (round) => round * ROUND_US)), shown(rounds(200, sent))],
  }
}

const ROUND_US = 100_000

/** Full speed for a quarter of the rounds, then 0.6 of it: what the card has done, and when. */
const fading = (round: number) => ROUND_US * (round <= 50 ? round : 50 + (round - 50) / 0.6)

const sustainedShare = (run: Run, rules: 1 | 2): number =>
  measuredOf(provenDevices(run, rules)[0]!, { deviceClass: 'gpu', scaling: null }).sustainedShare!

test('attack 94: a fade shows, also where its roots are held back and sent at an even pace', () => {
  const evenly = (round: number) => (round * fading(200)) / 200
  for (let round = 1; round <= 200; round++) expect(evenly(round)).toBeGreaterThanOrEqual(fading(round))
  expect(sustainedShare(sustainedRun(fading), 1)).toBeLessThan(0.85)
  expect(sustainedShare(sustainedRun(evenly), 1)).toBe(1)
  expect(sustainedShare(sustainedRun(fading), 2)).toBeLessThan(0.7)
  expect(sustainedShare(sustainedRun(evenly), 2)).toBeCloseTo(2 / 3, 2)
})

test('attack 94: a steady card keeps its share, and what held to the end is the sustained rate', () => {
  const steady = sustainedRun((round) => round * ROUND_US)
  expect(sustainedShare(steady, 2)).toBe(1)
  const late = (round: number) => ROUND_US * (round < 101 ? round : 100 + 2 * (round - 100))
  const [device] = provenDevices(sustainedRun(late), 2)
  expect(device!.sustained!.perSecond / device!.rates.bf16!).toBeCloseTo(2 / 3, 3)
})

test('a precision that was neither offered nor shown counts as declined', () => {
  const [device] = provenDevices(sustainedRun(fading), 2)
  const { declined } = measuredOf(device!, { deviceClass: 'gpu', scaling: null, offered: ['bf16', 'fp32'] })
  expect(declined).toEqual(['int8', 'fp8', 'fp16'])
  expect(measuredOf(device!, { deviceClass: 'gpu', scaling: null })).not.toHaveProperty('declined')
})
