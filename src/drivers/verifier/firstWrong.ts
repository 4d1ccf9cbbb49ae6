import type { RejectReason } from '../../core/proof/reasons.ts'

type Answer = RejectReason | null | undefined

/** The first answer that says what is wrong, or null where there is one to each question and all are null. */
export function firstWrong(answers: readonly Answer[], questions: number): RejectReason | null {
  // What nobody answered was not looked at: a hole in the list is as good as undefined.
  if (answers.length < questions || answers.includes(undefined)) throw new Error('openings not checked')
  return answers.find((reason) => reason !== null) ?? null
}
