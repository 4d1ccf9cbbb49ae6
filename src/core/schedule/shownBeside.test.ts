import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BoxState, nextBoxState } from './boxState.ts'
import { LARGEST_COHORT } from './largestCohort.ts'
import { type FleetBox, planFleetRound } from './planFleetRound.ts'
import { randomWords } from './randomWords.ts'
import { cardPoints, fellBeside, noteBeside, noteStrangers, owedByFall, STRANGER, shareBeside } from './shownBeside.ts'

const FULL = 100_000
const NEW: BoxState = { status: 'new', score: 0, failuresInRow: 0, busyInRow: 0, owes: [], missed: 0, beside: {} }
const RAN = { kind: 'full', claimVerdict: null, allocated: false, apart: false } as const

/** What a box shows of a card in a round, beside these. */
type Shows = (id: string, mates: readonly string[], round: number) => number

/** A fleet in which every box runs in every round, in cohorts of 8; yields its cohorts and what each box holds. */
function* rounds(size: number, shows: Shows) {
  let fleet = new Map<string, BoxState>(Array.from({ length: size }, (_, i) => [`b${i}`, NEW] as const))
  for (let round = 0; ; round++) {
    const boxes: FleetBox[] = [...fleet].map(([id, state]) => ({
      ...state,
      id,
      allocated: false,
      stalls: 0,
      rests: false,
      joins: false,
    }))
    const words = randomWords(new Uint8Array(32).fill(size, 0, 1 + (round % 32)).fill(round, 16))
    const jobs = planFleetRound({ round, boxes, maxDelayMs: 0, cohortSize: 8, probeUntilMs: 0, words })
    const ran = new Map(jobs.map(({ boxId, cohort }) => [boxId, jobs.filter((job) => job.cohort === cohort)]))
    const standing = [...fleet].flatMap(([id, { score }]) => (score > 0 ? [id] : []))
    const after = [...fleet].map(([id, state]) => {
      const mates = ran.get(id)!.flatMap(({ boxId }) => (boxId === id ? [] : [boxId]))
      const shown = Math.floor(FULL * shows(id, mates, round))
      const window = { mates, together: mates, ran: mates, standing }
      return [
        id,
        nextBoxState(state, 'accepted', { ...RAN, ...window, score: shown, shown }, { busyLimit: 2 }),
      ] as const
    })
    fleet = new Map(after)
    yield { held: (id: string) => fleet.get(id)!.score / FULL, beside: (id: string) => fleet.get(id)!.beside }
  }
}

describe('attack 222: boxes on one card show all of it where they do not meet', () => {
  /** What boxes that share one card hold on average in so many rounds after two of them met for the first time. */
  function heldAfterMeeting(
    size: number,
    sharing: readonly string[],
    shares: (among: number, place: number) => number,
  ) {
    let met = false
    const shows: Shows = (id, mates) => {
      const present = sharing.filter((other) => other === id || mates.includes(other))
      if (!present.includes(id)) return 1
      met ||= present.length > 1
      return present.length === 1 ? 1 : shares(present.length, present.indexOf(id))
    }
    let [total, counted] = [0, 0]
    for (const { held } of rounds(size, shows)) {
      if (!met) continue
      total += sharing.reduce((sum, id) => sum + held(id), 0)
      if (++counted === 30) return total / counted
    }
    return Number.NaN
  }

  test.each([12, 24])('two boxes in a fleet of %i hold one card from when they met', (size) => {
    expect(heldAfterMeeting(size, ['b0', 'b1'], (among) => 1 / among)).toBeLessThan(1.05)
    // One of them shows nearly all of it.
    expect(heldAfterMeeting(size, ['b0', 'b1'], (_, place) => [0.95, 0.05][place]!)).toBeLessThan(1.05)
  })

  test('three boxes in a fleet of 12 too', () => {
    expect(heldAfterMeeting(12, ['b0', 'b1', 'b2'], (among) => 1 / among)).toBeLessThan(1.25)
  })

  test.each([4, 12, 24, 64])('an honest box in a fleet of %i has a bad round, and is back after five', (size) => {
    const bad = 9
    let round = 0
    for (const { held } of rounds(size, (id, _, now) => (id === 'b0' && now === bad ? 0.5 : 1))) {
      if (round === bad) expect(held('b0')).toBe(0.5)
      if (round < bad || round > bad + 5) expect(held('b0')).toBe(1)
      expect(held('b1')).toBe(1)
      if (round++ === bad + 7) return
    }
  })

  test('an honest box that has become slower, or whose rates vary by a tenth, earns what it shows', () => {
    let round = 0
    const noisy = (now: number, id: string) => 0.9 + (0.2 * (((now + 1) * (id.length + 7) * 7919) % 101)) / 101
    const shows: Shows = (id, _, now) => (id === 'b0' ? (now < 9 ? 1 : 0.6) : noisy(now, id))
    for (const { held } of rounds(24, shows)) {
      expect(held('b0')).toBe(shows('b0', [], round))
      expect(held('b5')).toBeCloseTo(shows('b5', [], round), 4)
      if (++round === 20) return
    }
  })
})

const name = fc.constantFrom<string>('a', 'b', 'c', 'd', 'constructor')
const ids = fc.uniqueArray(name)
const beside = fc.dictionary(name, fc.nat(100), { noNullPrototype: true })
const points = fc.integer({ min: 1, max: 100 })

describe('what is remembered of a window', () => {
  test('is what was shown last where both runs count, and else the lower of the two', () => {
    fc.assert(
      fc.property(beside, points, ids, ids, (before, shown, ran, counted) => {
        const after = noteBeside(before, shown, ran, counted)
        for (const id of new Set([...Object.keys(before), ...ran])) {
          const known = Object.hasOwn(before, id) ? before[id]! : shown
          const least = Math.min(known, shown)
          expect(after[id]).toBe(!ran.includes(id) ? known : counted.includes(id) ? shown : least)
        }
      }),
    )
  })

  test('is as many boxes as the largest cohort has, beside whom least was shown', () => {
    const many = Array.from({ length: LARGEST_COHORT + 6 }, (_, i) => `m${i}`)
    const low = noteBeside({}, 50, ['low'], ['low'])
    const after = noteBeside(low, 90, many, many)
    expect(Object.keys(after)).toHaveLength(LARGEST_COHORT)
    expect(after.low).toBe(50)
    expect(owedByFall(after)).toEqual(['low'])
  })

  test('attack 239: beside a stranger that holds a score nothing is earned, until they have run in one window', () => {
    const state = { ...NEW, score: 10, beside: noteStrangers({ c: 9 }, ['b', 'c']) }
    expect(state.beside).toEqual({ b: STRANGER, c: 9 })
    const run = (ran: readonly string[], together: readonly string[], standing: readonly string[]) => {
      const window = { mates: ['b', 'c'], ran, together, standing }
      const earned = nextBoxState(state, 'accepted', { ...RAN, ...window, score: 20, shown: 20 }, { busyLimit: 2 })
      return [earned.scored, earned.score, earned.beside.b]
    }
    expect(run(['d'], ['d'], ['b'])).toEqual([false, 10, STRANGER])
    expect(run(['b', 'd'], ['d'], ['b'])).toEqual([false, 10, STRANGER])
    expect(run(['b', 'd'], ['b', 'd'], ['b'])).toEqual([true, 20, 20])
    expect(run(['d'], ['d'], [])).toEqual([true, 20, STRANGER])
    // Of more than can be remembered strangers go first.
    const many = Array.from({ length: LARGEST_COHORT }, (_, i) => `m${i}`)
    expect(noteBeside(state.beside, 20, many, many)).toMatchObject({ c: 9 })
    expect(noteBeside(state.beside, 20, many, many)).not.toHaveProperty('b')
  })

  test('pays at most what was shown beside who holds a score, but for a fifth, and nothing less to others', () => {
    fc.assert(
      fc.property(beside, points, ids, (before, shown, standing) => {
        const paid = shown * shareBeside(before, shown, standing)
        const known = standing.filter((id) => Object.hasOwn(before, id)).map((id) => before[id]!)
        const least = Math.min(shown, ...known)
        expect(paid).toBeCloseTo(least < 0.8 * shown ? least : shown)
        expect(fellBeside(before, shown).length > 0).toBe(Object.values(before).some((one) => one < 0.8 * shown))
      }),
    )
  })

  test('counts the points of cards, and no others', () => {
    const terms = ['gpu.int8', 'gpu.memory', 'cpu', 'bonus.allocation', 'tier'].map((name, i) => ({
      name,
      points: i + 1,
      got: 0,
      full: 0,
    }))
    expect(cardPoints(terms)).toBe(3)
  })
})
