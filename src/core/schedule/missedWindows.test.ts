import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { missedWindows } from './missedWindows.ts'
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
  test('every box that is rented, rests, or hangs where others do not, misses one whole cohort', () => {
    fc.assert(
      fc.property(boxes, fc.integer({ min: 2, max: 9 }), seed, (fleet, cohortSize, bytes) => {
        const { cohorts, missed } = drawn(fleet, cohortSize, bytes)
        const earning = cohortsThatEarn(fleet, cohorts)
        const absent = fleet.map(({ id }) => id).filter((id) => !earning.flat().includes(id))
        const away = missed.filter((one) => one.away)
        expect(away.map(({ boxId }) => boxId)).toEqual(cohorts.length > 0 ? absent : [])
        const whole = earning.map((members) => [...members].sort())
        for (const { mates } of away) expect(whole).toContainEqual([...mates].sort())
      }),
    )
  })

  test('attack 219: who joins owes all that hold a score of those that stand with it or are drawn to it', () => {
    fc.assert(
      fc.property(boxes, fc.integer({ min: 2, max: 9 }), seed, (fleet, cohortSize, bytes) => {
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
