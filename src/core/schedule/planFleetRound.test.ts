import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fleetRoundOfHeight } from './fleetRoundOfHeight.ts'
import { planFleetRound } from './planFleetRound.ts'
import { drawBelow, randomWords, shuffled } from './randomWords.ts'

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
const name = fc.nat(80).map((n) => `b${n}`)
const record = fc.record({
  id: name,
  allocated: fc.boolean(),
  score: fc.nat(9),
  stalls: fc.constantFrom(0, 0, 0, 1, 3),
  rests: fc.constantFrom(false, false, true),
  stood: fc.option(fc.nat(9)),
})
const boxes = fc.uniqueArray(record, { selector: ({ id }) => id, maxLength: 60 })
const calm = { score: 0, stalls: 0, rests: false, stood: null } as const

describe('planFleetRound', () => {
  const inputs = fc.record({ boxes, seed, maxDelayMs: fc.nat(1_200_000), cohortSize: fc.integer({ min: 1, max: 16 }) })

  test('every box that does not rest has one job, full or light as it is free or allocated, or waits for a place', () => {
    fc.assert(
      fc.property(inputs, ({ seed: bytes, ...rest }) => {
        const jobs = planFleetRound({ round: 3, probeUntilMs: 0, words: randomWords(bytes), ...rest })
        const awake = rest.boxes.filter(({ rests }) => !rests)
        const prompt = awake.filter(({ stalls, allocated }) => stalls === 0 && !allocated)
        const surplus = rest.cohortSize === 1 ? 0 : Math.max(0, prompt.length - rest.cohortSize)
        expect([new Set(jobs.map(({ boxId }) => boxId)).size, jobs.length]).toEqual(
          Array(2).fill(awake.length - surplus),
        )
        for (const { boxId, kind, round } of jobs) {
          const { allocated } = awake.find(({ id }) => id === boxId)!
          expect([round, kind]).toEqual([3, allocated ? 'light' : 'full'])
        }
      }),
    )
  })

  test('a cohort starts at one moment within the delay and is never larger than asked', () => {
    fc.assert(
      fc.property(inputs, ({ seed: bytes, ...rest }) => {
        const cohorts = new Map<number, number[]>()
        for (const { cohort, delayMs } of planFleetRound({
          round: 1,
          probeUntilMs: 0,
          words: randomWords(bytes),
          ...rest,
        }))
          cohorts.set(cohort, [...(cohorts.get(cohort) ?? []), delayMs])
        for (const delays of cohorts.values()) {
          expect(new Set(delays).size).toBe(1)
          expect(delays.length).toBeLessThanOrEqual(rest.cohortSize)
          expect(delays[0]).toBeGreaterThanOrEqual(0)
          expect(delays[0]).toBeLessThanOrEqual(rest.maxDelayMs)
        }
      }),
    )
  })

  test('attack 242: all that are free and prompt stand in one window', () => {
    fc.assert(
      fc.property(inputs, ({ seed: bytes, ...rest }) => {
        fc.pre(rest.cohortSize > 1)
        const jobs = planFleetRound({ round: 1, probeUntilMs: 0, words: randomWords(bytes), ...rest })
        const prompt = new Set(rest.boxes.filter(({ stalls }) => stalls === 0).map(({ id }) => id))
        const full = jobs.filter(({ kind, boxId }) => kind === 'full' && prompt.has(boxId))
        expect(new Set(full.map(({ cohort }) => cohort)).size).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('where places are few, who holds most keeps one, and nobody else is kept out for good', () => {
    const places = 8
    const rounds = 40
    // Ten that earn, of which six earn much; and 30 that come again and again, and earn a point or nothing.
    const fleet = Array.from({ length: 40 }, (_, i) => ({ id: `b${i}`, points: i < 6 ? 100 : i < 10 ? 50 : i % 2 }))
    const scores = new Map<string, number>()
    const stood = new Map<string, number>()
    const had = new Map<string, number>()
    for (let round = 1; round <= rounds; round++) {
      const boxes = fleet.map(({ id }) => {
        return { ...calm, id, allocated: false, score: scores.get(id) ?? 0, stood: stood.get(id) ?? null }
      })
      const words = randomWords(new Uint8Array(32).fill(round))
      const jobs = planFleetRound({ round, boxes, words, maxDelayMs: 0, cohortSize: places, probeUntilMs: 0 })
      expect(jobs).toHaveLength(places)
      for (const { boxId } of jobs) {
        stood.set(boxId, round)
        had.set(boxId, (had.get(boxId) ?? 0) + 1)
        scores.set(boxId, fleet.find(({ id }) => id === boxId)!.points)
      }
    }
    for (const { id, points } of fleet) {
      expect(had.get(id) ?? 0).toBeGreaterThan(points === 100 ? 0.5 * rounds : 0)
      if (points < 50) expect(had.get(id)!).toBeLessThan(0.2 * rounds)
    }
  })

  test('attack 79: boxes that keep others waiting stand with their like', () => {
    fc.assert(
      fc.property(inputs, ({ seed: bytes, ...rest }) => {
        const stalls = new Map(rest.boxes.map((box) => [box.id, box.stalls > 0]))
        const kinds = new Map<number, Set<boolean>>()
        for (const { boxId, cohort } of planFleetRound({
          round: 1,
          probeUntilMs: 0,
          words: randomWords(bytes),
          ...rest,
        }))
          kinds.set(cohort, new Set([...(kinds.get(cohort) ?? []), stalls.get(boxId)!]))
        for (const kind of kinds.values()) expect(kind.size).toBe(1)
      }),
    )
  })

  test('probes come after the full proofs and before the round is over', () => {
    const fleet = Array.from({ length: 50 }, (_, i) => ({ ...calm, id: `b${i}`, allocated: i % 7 === 0 }))
    const words = randomWords(new Uint8Array(32))
    const jobs = planFleetRound({ round: 1, boxes: fleet, maxDelayMs: 1000, cohortSize: 8, probeUntilMs: 5000, words })
    const probes = jobs.filter(({ reason }) => reason === 'probe')
    expect(probes.map(({ boxId }) => boxId)).toEqual(fleet.map(({ id }) => id))
    for (const { kind, delayMs } of probes) {
      expect(kind).toBe('light')
      expect(delayMs >= 1000 && delayMs < 5000).toBe(true)
    }
  })
})

describe('randomWords', () => {
  test('drawBelow stays below its limit and reaches every value', () => {
    const words = randomWords(new Uint8Array(32).fill(9))
    const counts = [0, 0, 0, 0, 0, 0, 0]
    for (let i = 0; i < 7000; i++) counts[drawBelow(7, words)]!++
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })

  test('a word of the incomplete last stretch is drawn again', () => {
    const given = [2 ** 32 - 1, 5]
    expect(drawBelow(3 * 2 ** 30, () => given.shift()!)).toBe(5)
  })

  test('shuffled keeps every item', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), seed, (items, bytes) => {
        expect(shuffled(items, randomWords(bytes)).sort()).toEqual([...items].sort())
      }),
    )
  })
})

test('fleetRoundOfHeight: a round every 360 blocks', () => {
  expect([0, 359, 360, 719, 720].map((height) => fleetRoundOfHeight(height))).toEqual([0, 0, 1, 1, 2])
})
