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
  owes: fc.uniqueArray(name, { maxLength: 8 }),
  beside: fc.dictionary(name, fc.nat(9), { maxKeys: 4 }),
  stalls: fc.constantFrom(0, 0, 0, 1, 3),
  rests: fc.constantFrom(false, false, true),
  joins: fc.boolean(),
})
const boxes = fc.uniqueArray(record, { selector: ({ id }) => id, maxLength: 60 })
const calm = { score: 0, owes: [], beside: {}, stalls: 0, rests: false, joins: false } as const

describe('planFleetRound', () => {
  const inputs = fc.record({ boxes, seed, maxDelayMs: fc.nat(1_200_000), cohortSize: fc.integer({ min: 1, max: 16 }) })

  test('every box that does not rest has exactly one job, full or light as it is free or allocated', () => {
    fc.assert(
      fc.property(inputs, ({ seed: bytes, ...rest }) => {
        const jobs = planFleetRound({ round: 3, probeUntilMs: 0, words: randomWords(bytes), ...rest })
        const awake = rest.boxes.filter(({ rests }) => !rests)
        expect(jobs.map(({ boxId }) => boxId).sort()).toEqual(awake.map(({ id }) => id).sort())
        for (const { id, allocated } of awake)
          expect(jobs.find(({ boxId }) => boxId === id)).toMatchObject({ round: 3, kind: allocated ? 'light' : 'full' })
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

  test('attack 77: nobody is alone where others are, and who missed a window stands beside the boxes it missed', () => {
    const cohortsOf = (inputs: Omit<Parameters<typeof planFleetRound>[0], 'round' | 'probeUntilMs'>) => {
      const of = new Map<string, number>()
      for (const { boxId, kind, cohort } of planFleetRound({ round: 1, probeUntilMs: 0, ...inputs }))
        if (kind === 'full') of.set(boxId, cohort)
      return of
    }
    fc.assert(
      fc.property(inputs, ({ seed: bytes, ...rest }) => {
        fc.pre(rest.cohortSize > 2)
        const boxesOf = rest.boxes.map((box) => ({ ...box, stalls: 0, rests: false, allocated: false }))
        const of = cohortsOf({ ...rest, boxes: boxesOf, words: randomWords(bytes) })
        const sizes = new Map<number, number>()
        for (const cohort of of.values()) sizes.set(cohort, (sizes.get(cohort) ?? 0) + 1)
        if (boxesOf.length > 1) expect(Math.min(...sizes.values())).toBeGreaterThan(1)
        const [first] = boxesOf
        if (!first) return
        // One box that owes, and nobody else: with it they fill half of its cohort.
        const owes = first.owes.filter((id) => id !== first.id && of.has(id))
        const half = Math.max(2, Math.floor(rest.cohortSize / 2))
        const fallen = Object.fromEntries([...owes.map((id) => [id, 79]), ['another', 100]])
        for (const owing of [
          { owes, beside: {} },
          { owes: [], beside: fallen },
        ]) {
          const only = boxesOf.map((box) => ({ ...box, ...(box === first ? owing : { owes: [], beside: {} }) }))
          const placed = cohortsOf({ ...rest, boxes: only, words: randomWords(bytes) })
          const mates = owes.filter((id) => placed.get(id) === placed.get(first.id))
          expect(mates.length).toBeGreaterThanOrEqual(Math.min(owes.length, half - 1))
        }
      }),
    )
  })

  test('attack 165: boxes that miss all the time keep no two others apart', () => {
    /** How often `a` and `b` meet in so many rounds; each idler misses from when it stands beside the one and not the other. */
    const meetings = (others: number, idlers: readonly string[], rounds: number) => {
      const ids = ['a', 'b', ...idlers, ...Array.from({ length: others }, (_, i) => `h${i}`)]
      const owes = new Map<string, readonly string[]>()
      let met = 0
      for (let round = 1; round <= rounds; round++) {
        const fleet = ids.map((id) => ({ ...calm, id, allocated: false, owes: owes.get(id) ?? [] }))
        const words = randomWords(new Uint8Array(32).fill(round, 0, 1 + (round % 32)))
        const cohorts = new Map<number, string[]>()
        for (const { boxId, cohort } of planFleetRound({
          ...{ round, boxes: fleet, words },
          ...{ maxDelayMs: 0, cohortSize: 8, probeUntilMs: 0 },
        }))
          cohorts.set(cohort, [...(cohorts.get(cohort) ?? []), boxId])
        for (const members of cohorts.values()) {
          if (members.includes('a') && members.includes('b')) met++
          for (const id of idlers.filter((idler) => members.includes(idler))) {
            const [kept, from] = idlers.indexOf(id) % 2 === 0 ? ['a', 'b'] : ['b', 'a']
            const begins = members.includes(kept) && !members.includes(from)
            const mates = members.filter((member) => member !== id)
            if (owes.has(id) || begins) owes.set(id, [...new Set([...(owes.get(id) ?? []), ...mates])].slice(-64))
          }
        }
      }
      return met / rounds
    }
    for (const others of [8, 10, 14, 22]) {
      const byChance = meetings(others + 2, [], 200)
      expect(byChance).toBeGreaterThan(0.2)
      for (const idlers of [['i'], ['i', 'j'], ['i', 'j', 'k', 'l']])
        expect(meetings(others + 2 - idlers.length, idlers, 200)).toBeGreaterThan(0.6 * byChance)
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

  test('who stands with whom changes from round to round', () => {
    const fleet = Array.from({ length: 40 }, (_, i) => ({ ...calm, id: `b${i}`, allocated: false }))
    const plan = (fill: number) =>
      planFleetRound({
        round: 1,
        boxes: fleet,
        maxDelayMs: 10,
        cohortSize: 4,
        probeUntilMs: 0,
        words: randomWords(new Uint8Array(32).fill(fill)),
      })
    const order = (fill: number) => plan(fill).map(({ boxId }) => boxId)
    expect(order(1)).not.toEqual(order(2))
    expect(order(1)).toEqual(order(1))
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
