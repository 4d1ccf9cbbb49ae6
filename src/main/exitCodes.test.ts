import { expect, test } from 'vitest'
import { exitOfReport } from './exitCodes.ts'

const claim = (verdict: string) => ({ text: '2x H200', verdict, reasons: [] })
const judged = (reason: object | null, claimed: unknown = null, gaveUp = false) => ({
  judgement: { outcome: reason === null ? 'accepted' : 'rejected', reason, claim: claimed } as never,
  gaveUp,
})

test.each([
  ['genuine', judged(null), 0, 0],
  ['genuine, but a card failed', judged(null), 1, 3],
  ['as claimed, but a card failed', judged(null, claim('matches')), 1, 3],
  ['not as claimed, and a card failed', judged(null, claim('weaker')), 1, 1],
  ['a claim neither shown nor refuted', judged(null, claim('unproven')), 0, 4],
  ['a claim neither shown nor refuted, and a card failed', judged(null, claim('unproven')), 1, 3],
  ['rejected', judged({ code: 'LATE_ROOT' }), 0, 1],
  ['given up before the nonce was out', judged({ code: 'REFUSED', got: 'GPU_LOST' }, null, true), 1, 3],
  ['given up when the nonce was out', judged({ code: 'REFUSED', got: 'GPU_LOST' }), 0, 1],
  ['rejected, and a card failed', judged({ code: 'OPENING_DOES_NOT_REACH_ROOT' }), 1, 1],
])('%s', (_, report, failed, exit) => {
  expect(exitOfReport(report, failed)).toBe(exit)
})
