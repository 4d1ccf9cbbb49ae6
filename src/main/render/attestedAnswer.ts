import type { AttestedRun } from '../../core/certificate/attestedRun.ts'
import { type Answer, doubted, headOf } from './answer.ts'

/**
 * The answer of a run for whoever brings along what evidence of hardware vendors is judged by: no yes where it was refused,
 * was not handed in, or leaves something open (attack 243). A check of a file ends alike.
 */
export function attestedAnswer(answer: Answer, { tier, refusal, doubts }: AttestedRun): Answer {
  if (answer.verdict === 'rejected' || answer.verdict === 'not-as-claimed') return answer
  const why = headOf(answer)
  if (refusal) {
    const { meaning, nextStep } = refusal
    return { verdict: 'rejected', word: 'REJECTED', text: `${meaning} [${refusal.code}]`, why, now: nextStep }
  }
  const code = tier === 'A' || tier === 'B' ? doubts[0]?.code : 'NOT_ATTESTED'
  if (code === undefined || answer.verdict === 'not-established') return answer
  return doubted({ code }, why)
}
