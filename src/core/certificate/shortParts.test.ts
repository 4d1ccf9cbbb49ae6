import { beforeAll, describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { syntheticRun } from '../../../test/support/syntheticRun.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import { PRESETS, type PresetName } from '../params/presets.ts'
import type { Run } from '../proof/verifyPart.ts'
import { judgeRun } from './judgeRun.ts'
import { shortParts } from './shortParts.ts'

/** A card whose passes take 4 s. */
const card = { rates: { int8: 1.2e15 }, heldBytes: 140e9, bandwidth: 4.2e12 }
const run = syntheticRun({ cards: [card], size: () => 32768 })

const short = (roundTripUs: number, preset: PresetName = 'mainnet') =>
  shortParts({ run, preset: PRESETS[preset], roundTripUs }).map(({ part, leastUs }) => ({ part, leastUs }))

const fewer = (p: number, rounds: number): Run => ({
  ...run,
  challenge: { ...run.challenge, parts: run.challenge.parts.map((part, i) => (i === p ? { ...part, rounds } : part)) },
  parts: run.parts.map((part, i) =>
    i === p
      ? {
          ...part,
          devices: part.devices.map((device) => ({ ...device, arrivalsUs: device.arrivalsUs.slice(-rounds) })),
        }
      : part,
  ),
})

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

const reasonOf = (given: Run, preset: PresetName, rules: 1 | 2, roundTripUs = 0) => {
  const inputs = { run: given, preset: PRESETS[preset], rules, roundTripUs, catalogue }
  return judgeRun({ ...inputs, deviceClasses: ['gpu'], claim: null, rejected: null }).reason
}

describe('parts that are over too soon', () => {
  test('passes last 50 round trips, in a secure preset alone', () => {
    expect(short(79_000)).toEqual([])
    expect(short(90_000)).toEqual([{ part: 1, leastUs: 4_500_000 }])
    expect(short(90_000, 'custom')).toEqual([])
  })

  test('a run that was too near its round trips is rejected for it', () => {
    expect(reasonOf(run, 'mainnet', 2, 90_000)).toMatchObject({ code: 'TOO_SHORT', expected: '4500000 us' })
    expect(reasonOf(run, 'mainnet', 2, 79_000)).toBeNull()
  })

  test('a part of fewer than 8 rounds is too short, but for version 1 and the tiny preset', () => {
    const few = { code: 'TOO_SHORT', part: 0, expected: '8 rounds', got: 7 }
    expect(reasonOf(fewer(0, 7), 'mainnet', 2)).toEqual(few)
    expect(reasonOf(fewer(0, 7), 'custom', 2)).toEqual(few)
    expect(reasonOf(fewer(0, 8), 'custom', 2)).toBeNull()
    expect(reasonOf(fewer(0, 7), 'custom', 1)).toBeNull()
    expect(reasonOf(fewer(0, 7), 'tiny', 2)).toBeNull()
  })
})
