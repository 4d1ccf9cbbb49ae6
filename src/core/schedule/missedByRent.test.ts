import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { missedByRent } from './missedByRent.ts'
import { type FleetBox, planFleetRound } from './planFleetRound.ts'
import { randomWords } from './randomWords.ts'

const name = fc.constantFrom(...Array.from({ length: 24 }, (_, i) => `b${i}`))
const box = fc.record({
  id: name,
  allocated: fc.boolean(),
  score: fc.nat(1),
  owes: fc.uniqueArray(name, { maxLength: 8 }),
  stalls: fc.nat(1),
  rests: fc.boolean(),
})
const boxes = fc.uniqueArray(box, { selector: ({ id }) => id, maxLength: 24 })
const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })

function drawn(fleet: readonly FleetBox[], cohortSize: number, bytes: Uint8Array) {
  const words = randomWords(bytes)
  const jobs = planFleetRound({ round: 1, boxes: fleet, maxDelayMs: 9, cohortSize, probeUntilMs: 20, words })
  const cohorts = new Map<number, string[]>()
  for (const { kind, cohort, boxId } of jobs)
    if (kind === 'full') cohorts.set(cohort, [...(cohorts.get(cohort) ?? []), boxId])
  return { cohorts: [...cohorts.values()], missed: missedByRent(fleet, jobs, cohortSize, words) }
}

describe('attack 210: missedByRent', () => {
  test('every rented box, also one that rests, misses one whole cohort, and nobody else misses any', () => {
    fc.assert(
      fc.property(boxes, fc.integer({ min: 2, max: 9 }), seed, (fleet, cohortSize, bytes) => {
        const { cohorts, missed } = drawn(fleet, cohortSize, bytes)
        const rented = fleet.filter(({ allocated }) => allocated).map(({ id }) => id)
        expect(missed.map(({ boxId }) => boxId)).toEqual(cohorts.length > 0 ? rented : [])
        const whole = cohorts.map((members) => [...members].sort())
        for (const { mates } of missed) expect(whole).toContainEqual([...mates].sort())
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
        for (const { boxId, mates } of missed) {
          expect(mates.some((id) => some.includes(id))).toBe(true)
          const owesIt = (id: string) => of.get(id)!.owes.includes(boxId)
          if (some.some(owesIt)) expect(mates.some(owesIt)).toBe(true)
        }
      }),
    )
  })

  test('a fleet without cohorts has no windows to miss', () => {
    const calm = { score: 1, owes: [], stalls: 0, rests: false }
    const fleet = ['a', 'b', 'c'].map((id) => ({ ...calm, id, allocated: id === 'a' }))
    expect(drawn(fleet, 1, new Uint8Array(32)).missed).toEqual([])
    expect(drawn(fleet, 2, new Uint8Array(32)).missed).toHaveLength(1)
  })
})
