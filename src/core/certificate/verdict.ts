import type { CheckedEvidence } from './checkCertificate.ts'
import type { StatedJudgement } from './judgementSchema.ts'

/** Of what a program is told. Grows only when a field goes or changes its meaning; fields may be added at any time. */
export const REPORT_FORMAT = 1

/** The answer in one word, for scripts and for people. */
export const VERDICTS = ['as-claimed', 'not-as-claimed', 'not-established', 'genuine', 'rejected'] as const
export type Verdict = (typeof VERDICTS)[number]

/** Genuine work by another box than was sold is not a success for whoever asks with a claim. */
export function verdictOf({ outcome, claim }: Pick<StatedJudgement, 'outcome' | 'claim'>): Verdict {
  if (outcome === 'rejected') return 'rejected'
  if (claim === null) return 'genuine'
  if (claim.verdict === 'unproven') return 'not-established'
  return claim.verdict === 'matches' ? 'as-claimed' : 'not-as-claimed'
}

/** The same of a file. Where signer and reader agree that it is not as claimed, no doubt makes it better. */
export function verdictOfCheck(checked: CheckedEvidence): Verdict {
  if (checked.problem) return 'rejected'
  if (checked.kind === 'summary') return 'not-established'
  if (checked.kind !== 'certificate') return checked.doubts.length > 0 ? 'not-established' : 'genuine'
  const verdict = verdictOf(checked.answer)
  const differ = checked.doubts.some(({ code }) => code === 'CATALOGUES_DIFFER' || code === 'RULES_DIFFER')
  if (!differ && (verdict === 'rejected' || verdict === 'not-as-claimed')) return verdict
  return checked.doubts.length > 0 ? 'not-established' : verdict
}
