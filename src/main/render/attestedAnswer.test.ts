import pc from 'picocolors'
import { expect, test } from 'vitest'
import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import { REFUSALS } from '../../core/attest/refusals.ts'
import { type AttestedRun, NOT_ATTESTED } from '../../core/certificate/attestedRun.ts'
import type { Verdict } from '../../core/certificate/verdict.ts'
import { attestedAnswer } from './attestedAnswer.ts'
import { attestedLines } from './attestedLines.ts'

const B: AttestedRun = { tier: 'B', refusal: null, doubts: [], chips: ['00'] }
const OPEN: AttestedRun = { ...B, doubts: [{ code: 'NO_GOLDEN_VALUES' }] }
const REVOKED = { code: 'CERTIFICATE_REVOKED', ...REFUSALS.CERTIFICATE_REVOKED } as const
const REFUSED: AttestedRun = { ...NOT_ATTESTED, refusal: REVOKED }

test.each<[string, Verdict, AttestedRun, Verdict, string]>([
  ['all of it holds', 'as-claimed', B, 'as-claimed', ''],
  ['something is open', 'as-claimed', OPEN, 'not-established', 'NO_GOLDEN_VALUES'],
  ['nothing was handed in', 'genuine', NOT_ATTESTED, 'not-established', 'NOT_ATTESTED'],
  ['it was not checked', 'genuine', { ...NOT_ATTESTED, tier: null }, 'not-established', 'NOT_ATTESTED'],
  ['it was refused', 'as-claimed', REFUSED, 'rejected', 'CERTIFICATE_REVOKED'],
  ['it was refused, and the claim is open', 'not-established', REFUSED, 'rejected', 'CERTIFICATE_REVOKED'],
  ['the claim is open anyway', 'not-established', NOT_ATTESTED, 'not-established', ''],
  ['the run is worse', 'not-as-claimed', REFUSED, 'not-as-claimed', ''],
  ['the run was rejected', 'rejected', OPEN, 'rejected', ''],
])('attack 243: whoever brings a policy gets no yes without evidence that holds: %s', (_, before, run, after, code) => {
  const answer = attestedAnswer({ verdict: before, word: 'WORD', text: 'text', why: null, now: 'now' }, run)
  expect(answer.verdict).toBe(after)
  expect(answer.text).toEqual(code === '' ? 'text' : expect.stringContaining(`[${code}]`))
  expect(answer.why).toBe(code === '' ? null : 'without that it would be: WORD  text')
})

test('attack 377: of a rejected run no chip is shown, and a refusal is', () => {
  const colours = pc.createColors(false)
  const rejected = { reason: { code: 'ROOT_MISMATCH' } } as unknown as BoxReport['judgement']
  const judged = { ...rejected, reason: null }
  expect(attestedLines({ attested: B, judgement: judged }, colours).join()).toContain('chip 00')
  expect(attestedLines({ attested: B, judgement: rejected }, colours)).toEqual([])
  expect(attestedLines({ attested: REFUSED, judgement: rejected }, colours).join()).toContain('CERTIFICATE_REVOKED')
})
