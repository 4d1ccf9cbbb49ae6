import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { madeUpEvidence } from '../../../test/support/madeUpRun.ts'
import { challengeDiffers } from '../certificate/challengeDiffers.ts'
import { lengthen } from '../certificate/shortParts.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import { type Challenge, decodeChallenge, encodeChallenge } from './challenge.ts'
import type { PlannedPart } from './partKinds.ts'
import { rootCount } from './partKinds.ts'
import type { PlanInputs, Timings } from './planPart.ts'
import { partKey } from './planPart.ts'
import { chooseSize, planRun, planSizing, planTiming } from './planRun.ts'
import { queryHash } from './query.ts'
import { timingsOf } from './timingsOf.ts'

const memory = fc.oneof(
  fc.nat(Number.MAX_SAFE_INTEGER),
  fc.integer({ min: 0, max: 2 ** 31 - 1 }).map((x) => x * 128),
)

const inputs: fc.Arbitrary<PlanInputs> = fc
  .record({
    preset: fc.constantFrom(...Object.values(PRESETS)),
    deviceClass: fc.constantFrom('cpu' as const, 'gpu' as const),
    memories: fc.oneof(
      { weight: 9, arbitrary: fc.array(fc.tuple(memory, memory), { minLength: 1, maxLength: 3 }) },
      { weight: 1, arbitrary: fc.array(fc.tuple(memory, memory), { minLength: 32, maxLength: 32 }) },
    ),
    precisions: fc.subarray([...PRECISION_NAMES], { minLength: 1 }),
    memory: fc.boolean(),
    bind: fc.boolean(),
    moreOpenings: fc.nat(100),
    maxSize: fc.integer({ min: 64, max: 32768 }),
    seconds: fc.constantFrom(0, 0.05, 3, 3600),
    sustained: fc.constantFrom(0, 20, 86_400),
    roundTripSeconds: fc.double({ min: 0, max: 10, noNaN: true }),
  })
  .map(({ deviceClass, memories, seconds, sustained, moreOpenings, ...rest }) => ({
    ...rest,
    devices: memories.map(([memoryBytes, freeBytes]) => ({ class: deviceClass, memoryBytes, freeBytes })),
    openings: rest.preset.openings + moreOpenings,
    partSeconds: seconds,
    sustainedSeconds: sustained,
  }))

/** What a calibration can have shown: from two roots in one packet to a root just before the limit. */
const gap = fc
  .tuple(fc.double({ min: 2e-5, max: 120, noNaN: true }), fc.double({ min: 1, max: 1e6, noNaN: true }))
  .map(([fastest, factor]) => ({ fastest, slowest: Math.min(120, fastest * factor) }))

const timings: fc.Arbitrary<Timings> = fc.array(gap, { minLength: 8, maxLength: 8 }).map((gaps) => {
  const keys = [...PRECISION_NAMES.map((name) => `rounds ${name}`), 'fill', 'bind int8']
  return new Map([
    ...keys.map((key, i) => [key, gaps[i]!] as const),
    ['pass byte', { fastest: gaps[7]!.fastest / 1e9, slowest: gaps[7]!.slowest / 1e6 }] as const,
  ])
})

const asChallenge = (parts: readonly PlannedPart[], deviceCount: number): Challenge => ({
  version: 2,
  runId: new Uint8Array(16),
  validatorKey: new Uint8Array(32),
  proverKey: new Uint8Array(32),
  deviceCount,
  parts: parts.map((part) => ({ ...part, nonceHash: new Uint8Array(32) })),
})

function expectSound(given: PlanInputs, plan: readonly PlannedPart[], least = 2): void {
  const challenge = asChallenge(plan, given.devices.length)
  expect(decodeChallenge(encodeChallenge(challenge))).toEqual(challenge)
  for (const part of challenge.parts) {
    expect(part.rounds).toBeGreaterThanOrEqual(least)
    const roots = given.devices.reduce((sum, _, device) => sum + rootCount(part, device), 0)
    // Rounds and passes, each over all devices (attack 427).
    expect(roots).toBeLessThanOrEqual(2 ** 15 + 2 ** 16)
    expect(part.limitMs).toBeLessThanOrEqual(
      60_000 + 5_000 * (300 + 10 * Math.max(given.partSeconds, given.sustainedSeconds)),
    )
  }
}

/** Such cards, all idle, in a run of `mainnet`. */
const boxOf = (memories: readonly number[]): PlanInputs => ({
  preset: PRESETS.mainnet,
  devices: memories.map((memoryBytes) => ({ class: 'gpu', memoryBytes, freeBytes: memoryBytes })),
  ...{ precisions: ['int8'], memory: true, bind: true, openings: 128, maxSize: 32_768 },
  ...{ partSeconds: 3, sustainedSeconds: 20, roundTripSeconds: 0 },
})

test('attack 427: many cards, one of them small, are asked for no more roots than we can hash', () => {
  const given = boxOf([3e9, ...Array<number>(31).fill(10e9)])
  expectSound(
    given,
    planRun(given, () => 1024, new Map()),
  )
  const roots = Array.from({ length: 32 }, () => Array.from({ length: 4096 }, () => new Uint8Array(32)))
  const seed = new Uint8Array(32)
  expect(queryHash({ x: seed, s: seed, nonce: seed, roots })).toHaveLength(32)
})

test('32 of any card fill as much of each as one alone', async () => {
  const keptBy = (memories: readonly number[]) =>
    planRun(boxOf(memories), () => 1024, new Map()).find(({ kind }) => kind.startsWith('memor'))!.kept[0]
  for (const { memoryBytes } of (await shippedCatalogue()).models)
    expect(keptBy(Array<number>(32).fill(memoryBytes))).toBe(keptBy([memoryBytes]))
})

describe('whatever a box claims and however it calibrates', () => {
  test('property: attack 44, every plan is a challenge that decodes, of the preset, with bounded roots and waits', () => {
    fc.assert(
      fc.property(inputs, timings, (given, shown) => {
        const sizing = planSizing(given)
        expectSound(given, sizing)
        const size = (precision: PlanInputs['precisions'][number]) => chooseSize(given, precision, sizing, shown)
        expectSound(given, planTiming(given, size))
        const plan = planRun(given, size, shown)
        expectSound(given, plan, given.preset.leastRounds)
        const classes = given.devices.map((device) => device.class)
        expect(challengeDiffers(given.preset, asChallenge(plan, given.devices.length), classes)).toBeNull()
        const short = plan.map((_, part) => ({ part, device: 0, leastUs: 10_000_000, elapsedUs: 1 }))
        expectSound(given, lengthen(plan, short), given.preset.leastRounds)
      }),
      { numRuns: 80 },
    )
  }, 60_000)

  test('property: attack 27, a slow calibration lowers m and n at most, never k', () => {
    fc.assert(
      fc.property(inputs, timings, timings, (given, slow, fast) => {
        const plan = (shown: Timings) => {
          const sizing = planSizing(given)
          return planRun(given, (precision) => chooseSize(given, precision, sizing, shown), shown)
        }
        expect(plan(slow).map(({ k }) => k)).toEqual(plan(fast).map(({ k }) => k))
      }),
    )
  })
})

test('attack 400: a card that is slow gets small rounds, down to the least size, and never few long ones', () => {
  const given: PlanInputs = {
    ...{ preset: PRESETS.mainnet, devices: [{ class: 'gpu', memoryBytes: 80e9, freeBytes: 79e9 }] },
    ...{ precisions: ['int8'], memory: false, bind: false, openings: 128, partSeconds: 3, sustainedSeconds: 0 },
    ...{ maxSize: 2 ** 15, roundTripSeconds: 0.01 },
  }
  const sizing = planSizing(given)
  const sizeAt = (seconds: number) =>
    chooseSize(given, 'int8', sizing, new Map([[partKey(sizing[0]!), { fastest: seconds, slowest: seconds }]]))
  expect([0.01, 0.2, 0.3, 1, 4, 100].map(sizeAt)).toEqual([2 ** 15, 2 ** 13, 2 ** 12, 2 ** 11, 2 ** 10, 2 ** 10])
})

test('property: the passes of a fast card last their two seconds, though its roots come late and together', () => {
  const card = { class: 'gpu' as const, memoryBytes: 150e9, freeBytes: 149e9 }
  const inputs: PlanInputs = {
    preset: PRESETS.mainnet,
    devices: [card],
    precisions: [],
    memory: true,
    bind: false,
    openings: 128,
    partSeconds: 3,
    sustainedSeconds: 0,
    maxSize: 32768,
    roundTripSeconds: 0.002,
  }
  const [timed] = planTiming(inputs, () => 32768)
  const passSeconds = (kept: number) => (2 * kept * timed!.m * timed!.n * 2) / 4.2e12 + 1e-4
  const lateUs = fc.array(fc.nat(5000), { minLength: timed!.rounds, maxLength: timed!.rounds })
  fc.assert(
    fc.property(lateUs, (late) => {
      const fill = Array.from({ length: timed!.kept[0]! }, (_, i) => 13_000 * (i + 1))
      let lastUs = 0
      const passes = late.map((us, i) => {
        lastUs = Math.max(lastUs, 1e6 * passSeconds(timed!.kept[0]!) * (i + 1) + us)
        return fill.at(-1)! + lastUs
      })
      const evidence = [madeUpEvidence([{ device: 0, arrivalsUs: [...fill, ...passes] }], fill.at(-1)!)]
      const challenge = asChallenge([timed!], 1)
      const [memory] = planRun(inputs, () => 32768, timingsOf(challenge, evidence, inputs.roundTripSeconds))
      expect(memory!.rounds * passSeconds(memory!.kept[0]!)).toBeGreaterThan(2)
    }),
  )
})
