import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type MissedWindow, missedWindows, OWED_BY_AWAY } from './missedWindows.ts'
import { type FleetBox, planFleetRound } from './planFleetRound.ts'
import { randomWords } from './randomWords.ts'
import { owedByFall } from './shownBeside.ts'

const name = fc.constantFrom(...Array.from({ length: 24 }, (_, i) => `b${i}`))
const box = fc.record({
  id: name,
  allocated: fc.boolean(),
  score: fc.nat(1),
  owes: fc.uniqueArray(name, { maxLength: 8 }),
  beside: fc.dictionary(name, fc.nat(9), { maxKeys: 4 }),
  stalls: fc.nat(1),
  rests: fc.boolean(),
  joins: fc.boolean(),
})
const boxes = fc.uniqueArray(box, { selector: ({ id }) => id, maxLength: 24 })
const cohortSizes = fc.integer({ min: 2, max: 24 })
const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })

function drawn(fleet: readonly FleetBox[], cohortSize: number, bytes: Uint8Array) {
  const words = randomWords(bytes)
  const jobs = planFleetRound({ round: 1, boxes: fleet, maxDelayMs: 9, cohortSize, probeUntilMs: 20, words })
  const cohorts = new Map<number, string[]>()
  for (const { kind, cohort, boxId } of jobs)
    if (kind === 'full') cohorts.set(cohort, [...(cohorts.get(cohort) ?? []), boxId])
  return { cohorts: [...cohorts.values()], missed: missedWindows(fleet, jobs, cohortSize, words) }
}

/** Those of boxes that keep nobody waiting, where there are such. */
function cohortsThatEarn(fleet: readonly FleetBox[], cohorts: readonly string[][]): readonly string[][] {
  const isPrompt = (id: string) => fleet.find((one) => one.id === id)!.stalls === 0
  const prompt = cohorts.filter((members) => members.every(isPrompt))
  return prompt.length > 0 ? prompt : cohorts
}

describe('attacks 210, 220: missedWindows', () => {
  test('every box that is rented, rests, or hangs where others do not, misses one cohort, and owes eight of it or all', () => {
    fc.assert(
      fc.property(boxes, cohortSizes, seed, (fleet, cohortSize, bytes) => {
        const { cohorts, missed } = drawn(fleet, cohortSize, bytes)
        const earning = cohortsThatEarn(fleet, cohorts)
        const absent = fleet.map(({ id }) => id).filter((id) => !earning.flat().includes(id))
        const away = missed.filter((one) => one.away)
        expect(away.map(({ boxId }) => boxId)).toEqual(cohorts.length > 0 ? absent : [])
        for (const { mates } of away) {
          const cohort = earning.find((members) => members.includes(mates[0]!))!
          expect(mates.filter((id) => cohort.includes(id))).toEqual(mates)
          expect(new Set(mates).size).toBe(Math.min(OWED_BY_AWAY, cohort.length))
        }
      }),
    )
  })

  test('who of a large cohort is owed is chance, but for one that owes a window itself', () => {
    const calm = { allocated: false, score: 1, beside: {}, stalls: 0, rests: false, joins: false }
    const fleet = Array.from({ length: 24 }, (_, i) => ({ ...calm, id: `b${i}`, owes: i > 20 ? ['b0'] : [] }))
    const rented = fleet.map((one, i) => ({ ...one, allocated: i === 0 }))
    const debtors = ['b21', 'b22', 'b23']
    const owed = new Map<string, number>()
    for (let n = 0; n < 200; n++) {
      const [{ mates }] = drawn(rented, 24, new Uint8Array(32).fill(n)).missed as [MissedWindow]
      expect(mates.some((id) => debtors.includes(id))).toBe(true)
      for (const id of mates) owed.set(id, (owed.get(id) ?? 0) + 1)
    }
    expect(owed.size).toBe(23)
    // One of three, and 7 of the 22 others: 200 * (1/3 + 2/3 * 7/22) = 109, and 200 * 7/22 = 64.
    for (const [id, times] of owed) expect(Math.abs(times - (debtors.includes(id) ? 109 : 64))).toBeLessThan(30)
  })

  test('attack 219: who joins owes all that hold a score of those that stand with it or are drawn to it', () => {
    fc.assert(
      fc.property(boxes, cohortSizes, seed, (fleet, cohortSize, bytes) => {
        const of = new Map(fleet.map((one) => [one.id, one]))
        const { cohorts, missed } = drawn(fleet, cohortSize, bytes)
        const earning = cohortsThatEarn(fleet, cohorts)
        const standing = earning.flat()
        const joining = missed.filter(({ away }) => !away)
        expect(joining.map(({ boxId }) => boxId).sort()).toEqual(standing.filter((id) => of.get(id)!.joins).sort())
        for (const { boxId, mates } of joining) {
          const cohort = earning.find((members) => members.includes(boxId))!
          const drawnTo = missed.filter((one) => one.away && one.mates.includes(boxId)).map((one) => one.boxId)
          const holders = [...cohort, ...drawnTo].filter((id) => id !== boxId && of.get(id)!.score > 0)
          expect([...mates].sort()).toEqual(holders.sort())
        }
        // Attack 239: who joins is a stranger to its cohort and to all that are away, and they to it.
        const away = missed.filter((one) => one.away)
        for (const { strangers } of away)
          expect([...strangers].sort()).toEqual(joining.map(({ boxId }) => boxId).sort())
        for (const { boxId, strangers } of joining) {
          const mates = earning.find((members) => members.includes(boxId))!.filter((id) => id !== boxId)
          expect([...strangers].sort()).toEqual([...mates, ...away.map((one) => one.boxId)].sort())
        }
      }),
    )
  })

  test('beside one that owes it a window, where there is one, and never beside those that hang, where there are others', () => {
    fc.assert(
      fc.property(boxes, seed, (fleet, bytes) => {
        const of = new Map(fleet.map((one) => [one.id, one]))
        const { cohorts, missed } = drawn(fleet, 4, bytes)
        const hangs = (id: string) => of.get(id)!.stalls > 0
        const free = cohorts.flat()
        const prompt = free.filter((id) => !hangs(id))
        const some = prompt.length > 0 ? prompt : free
        for (const { boxId, mates } of missed.filter(({ away }) => away)) {
          expect(mates.some((id) => some.includes(id))).toBe(true)
          const owesIt = (id: string) => [...of.get(id)!.owes, ...owedByFall(of.get(id)!.beside)].includes(boxId)
          if (some.some(owesIt)) expect(mates.some(owesIt)).toBe(true)
        }
      }),
    )
  })

  test('a fleet without cohorts has no windows to miss', () => {
    const calm = { score: 1, owes: [], beside: {}, stalls: 0, rests: false, joins: false }
    const fleet = ['a', 'b', 'c'].map((id) => ({ ...calm, id, allocated: id === 'a' }))
    expect(drawn(fleet, 1, new Uint8Array(32)).missed).toEqual([])
    expect(drawn(fleet, 2, new Uint8Array(32)).missed).toHaveLength(1)
  })
})
