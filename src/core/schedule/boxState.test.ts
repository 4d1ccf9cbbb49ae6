import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CLAIM_ANSWERS, type ClaimAnswer } from '../identify/claimReasons.ts'
import { type BoxState, nextBoxState, OUTCOMES, type Outcome } from './boxState.ts'
import { retryDelay } from './retryDelay.ts'

const start: BoxState = { status: 'new', score: 0, failuresInRow: 0, busyInRow: 0, missed: 0 }
const rules = { busyLimit: 2 }
const full = (score: number, claimVerdict: ClaimAnswer | null = null) =>
  ({ kind: 'full', score, claimVerdict, allocated: false, apart: false }) as const
const light = (allocated: boolean) =>
  ({ kind: 'light', score: 0, claimVerdict: null, allocated, apart: false }) as const
const event = fc.record({
  outcome: fc.constantFrom<Outcome>(...OUTCOMES),
  kind: fc.constantFrom('full' as const, 'light' as const),
  score: fc.nat(1_000_000),
  claimVerdict: fc.constantFrom(null, ...CLAIM_ANSWERS),
  allocated: fc.boolean(),
  apart: fc.boolean(),
})

describe('nextBoxState', () => {
  test('a failure takes the score at once and is counted (attack 18)', () => {
    const good = nextBoxState(start, 'accepted', full(900), rules)
    expect(good).toMatchObject({ status: 'verified', score: 900, scored: true })
    for (const outcome of ['rejected', 'unreachable'] as const)
      expect(nextBoxState(good, outcome, full(0), rules)).toMatchObject({
        status: 'failed',
        score: 0,
        failuresInRow: 1,
        failed: true,
        scored: true,
      })
  })

  test('busy is a state of its own, lets the score age, and turns into a failure when it goes on', () => {
    let state: BoxState = nextBoxState(start, 'accepted', full(900), rules)
    for (let i = 0; i < 2; i++) {
      const next = nextBoxState(state, 'busy', full(0), rules)
      expect(next).toMatchObject({ status: 'busy', score: 900, scored: false, failed: false })
      state = next
    }
    expect(nextBoxState(state, 'busy', full(0), rules)).toMatchObject({ status: 'failed', score: 0, failed: true })
  })

  test('attack 378: busy does not hide a failure, or a claim that is not met', () => {
    const failed = nextBoxState(start, 'rejected', full(0), rules)
    const unmet = nextBoxState(start, 'accepted', full(5, 'weaker'), rules)
    for (const earned of [full(0), light(false)]) {
      expect(nextBoxState(failed, 'busy', earned, rules)).toMatchObject({ status: 'failed', busyInRow: 1 })
      expect(nextBoxState(unmet, 'busy', earned, rules)).toMatchObject({ status: 'claim-unmet', busyInRow: 1 })
    }
  })

  test('attack 432: a rented box that is busy when it is looked at is what it was, however often', () => {
    for (const before of [full(900), full(5, 'weaker')]) {
      const state = nextBoxState(start, 'accepted', before, rules)
      let next = state
      for (let i = 0; i < 9; i++) next = nextBoxState(next, 'busy', light(true), rules)
      expect(next).toEqual({ ...state, scored: false })
    }
    expect(nextBoxState(start, 'busy', light(false), rules)).toMatchObject({ status: 'busy', busyInRow: 1 })
  })

  test('attack 62: a light look between two full proofs does not make busy count from the start again', () => {
    let state: BoxState = nextBoxState(start, 'accepted', full(900), rules)
    for (let i = 0; i < 2; i++) {
      state = nextBoxState(state, 'busy', full(0), rules)
      state = nextBoxState(state, 'accepted', light(false), rules)
    }
    expect(state).toMatchObject({ score: 900, busyInRow: 2 })
    expect(nextBoxState(state, 'busy', full(0), rules)).toMatchObject({ status: 'failed', score: 0, failed: true })
  })

  test('attack 77: two missed windows in a row are a failure, one only lets the score age', () => {
    const good = nextBoxState(start, 'accepted', full(900), rules)
    const missed = nextBoxState(good, 'void', full(900), rules)
    expect(missed).toMatchObject({ status: 'verified', score: 900, scored: false, failed: false, missed: 1 })
    expect(nextBoxState(missed, 'void', full(900), rules)).toMatchObject({ score: 0, failed: true })
    const back = nextBoxState(missed, 'accepted', full(800), rules)
    expect(back).toMatchObject({ score: 800, missed: 0 })
    expect(nextBoxState(back, 'void', full(800), rules)).toMatchObject({ score: 800, failed: false })
    const busy = nextBoxState(good, 'busy', full(0), rules)
    expect(nextBoxState(busy, 'void', full(900), rules)).toMatchObject({ score: 0, failed: true })
  })

  test('attack 134: a void run takes what it did not show', () => {
    const good = nextBoxState(start, 'accepted', full(900), rules)
    const late = nextBoxState(good, 'void', full(450), rules)
    expect(late).toMatchObject({ status: 'verified', score: 450, scored: false, atMost: 450, missed: 1 })
  })

  test('attack 346: a void run finds a claim unmet, and never met', () => {
    const good = nextBoxState(start, 'accepted', full(900, 'matches'), rules)
    const other = nextBoxState(good, 'void', full(5, 'weaker'), rules)
    expect(other).toMatchObject({ status: 'claim-unmet', score: 5, missed: 1, failed: false })
    expect(nextBoxState(other, 'accepted', light(true), rules)).toMatchObject({ status: 'claim-unmet' })
    const unmet = nextBoxState(start, 'accepted', full(5, 'weaker'), rules)
    expect(nextBoxState(unmet, 'void', full(900, 'matches'), rules)).toMatchObject({ status: 'claim-unmet', score: 5 })
  })

  test('a box at work is only looked at lightly, and such a look shows that it is not busy', () => {
    const busy = nextBoxState(start, 'busy', light(true), rules)
    expect(nextBoxState(busy, 'accepted', light(true), rules)).toMatchObject({ busyInRow: 0, scored: false })
  })

  test('trouble of our own changes nothing but lets the score age', () => {
    const good = nextBoxState(start, 'accepted', full(900), rules)
    expect(nextBoxState(good, 'fault', full(0), rules)).toMatchObject({ status: 'verified', score: 900, scored: false })
  })

  test('a box that is not what it is sold as is never verified, however good its score', () => {
    for (const verdict of CLAIM_ANSWERS)
      expect(nextBoxState(start, 'accepted', full(900, verdict), rules)).toMatchObject({
        status: verdict === 'matches' ? 'verified' : 'claim-unmet',
        score: 900,
        failed: false,
      })
  })

  test('attacks 125 and 126: apart from the others a proof may lower a score, never raise or renew it', () => {
    const apart = (score: number) => ({ ...full(score), apart: true })
    const good = nextBoxState(start, 'accepted', full(900), rules)
    for (const score of [900, 1800])
      expect(nextBoxState(good, 'accepted', apart(score), rules)).toMatchObject({ score: 900, scored: false })
    expect(nextBoxState(good, 'accepted', apart(400), rules)).toMatchObject({
      score: 400,
      scored: false,
      atMost: 400,
    })
    // What the box holds when the run is over is the store's to know (attack 324); what shows nothing lowers nothing.
    expect(nextBoxState(start, 'accepted', apart(400), rules)).toMatchObject({ score: 0, atMost: 400 })
    expect(nextBoxState(good, 'void', { ...full(0), score: null }, rules)).toMatchObject({ score: 900, atMost: null })
    // Nor does it make anything forgotten (attack 135).
    const busy = nextBoxState(good, 'busy', full(0), rules)
    expect(nextBoxState(busy, 'accepted', apart(400), rules)).toMatchObject({ score: 400, busyInRow: 1, missed: 1 })
    expect(nextBoxState(start, 'accepted', apart(900), rules)).toMatchObject({ status: 'new', score: 0, scored: false })
    const failed = nextBoxState(good, 'rejected', full(0), rules)
    expect(nextBoxState(failed, 'accepted', apart(900), rules)).toMatchObject({ status: 'failed', score: 0 })
  })

  test('whatever happens: only a full accepted proof gives points, and any failure leaves none', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        let state: BoxState = start
        for (const { outcome, ...earned } of events) {
          const { kind, claimVerdict } = earned
          const next = nextBoxState(state, outcome, earned, rules)
          if (next.score > state.score) expect([outcome, kind, earned.apart]).toEqual(['accepted', 'full', false])
          const unmet = claimVerdict !== null && claimVerdict !== 'matches'
          if (outcome === 'accepted' && next.scored) expect(next.status).toBe(unmet ? 'claim-unmet' : 'verified')
          if (next.failed) expect(next.score).toBe(0)
          if (next.status === 'failed' && outcome === 'accepted')
            expect([kind, next.scored]).not.toEqual(['full', true])
          if (outcome === 'rejected' || outcome === 'unreachable') expect(next.failed).toBe(true)
          expect(next.busyInRow).toBeLessThanOrEqual(state.busyInRow + 1)
          state = next
        }
      }),
    )
  })
})

test('retryDelay: an interval until the limit, then the job is over', () => {
  const retries = { limit: 2, intervalMs: 300 }
  expect([0, 1, 2, 3].map((tries) => retryDelay('rejected', tries, retries))).toEqual([300, 300, null, null])
  expect(retryDelay('accepted', 0, retries)).toBeNull()
  expect(retryDelay('busy', 0, retries)).toBe(300)
})
