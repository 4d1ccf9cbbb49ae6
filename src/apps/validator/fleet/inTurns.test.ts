import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BoxState, nextBoxState, type Outcome } from '../../../core/schedule/boxState.ts'
import { scoreNow } from '../../shared/scoreNow.ts'

const CARD = 1_000_000
const HOUR_MS = 3_600_000
const decay = { freshMs: 2 * HOUR_MS, halfLifeMs: 6 * HOUR_MS }
const start: BoxState = { status: 'new', score: 0, failuresInRow: 0, busyInRow: 0, missed: 0 }

/** Null: it has no place in the window, since it is rented, rests or waits for one. */
const absence = fc.constantFrom<Outcome | null>('busy', 'void', 'unreachable', 'fault', null)
/** What a box does with a card in one round: a share of it in the window, or nothing there and a full proof apart. */
const turn = fc.record({ weight: fc.nat(3), absent: absence, apart: fc.boolean(), others: fc.boolean() })
const rounds = fc.integer({ min: 2, max: 8 }).chain((boxes) => {
  const round = fc.array(turn, { minLength: boxes, maxLength: boxes })
  return fc.array(round, { minLength: 3, maxLength: 20 })
})

test('attacks 165, 228 and 242: whatever boxes on one card do, together they hold no more than the card', () => {
  fc.assert(
    fc.property(rounds, (plan) => {
      let boxes = plan[0]!.map(() => ({ state: start, since: 0, scoredAt: null as string | null }))
      const paid: number[] = []
      for (const [round, turns] of plan.entries()) {
        const now = new Date(round * HOUR_MS)
        const total = turns.reduce((sum, { weight }) => sum + weight, 0)
        boxes = boxes.map((box, i) => {
          const { weight, absent, apart } = turns[i]!
          if (weight === 0 && absent === null && !apart) return box
          const outcome = weight > 0 || absent === null ? 'accepted' : absent
          const score = outcome === 'accepted' ? Math.floor(weight > 0 ? (CARD * weight) / total : CARD) : 0
          const shown = outcome === 'fault' || outcome === 'busy' ? box.state.score : score
          const run = { kind: 'full', score: shown, claimVerdict: null, allocated: false, apart: weight === 0 } as const
          const state = nextBoxState(box.state, outcome, run, { busyLimit: 2 })
          const earned = state.scored && outcome === 'accepted'
          return earned ? { state, since: round, scoredAt: now.toISOString() } : { ...box, state }
        })
        // Others of the fleet earn, or nobody does: then the round takes nothing from anybody.
        if (turns[0]!.others || boxes.some(({ since, scoredAt }) => scoredAt !== null && since === round))
          paid.push(round)
        const held = boxes.map(({ state, since, scoredAt }) => {
          const current = paid.every((round) => round <= since)
          return scoreNow({ score: state.score, scoredAt, current }, now, decay)
        })
        expect(held.reduce((sum, points) => sum + points, 0)).toBeLessThanOrEqual(CARD)
      }
    }),
  )
})
