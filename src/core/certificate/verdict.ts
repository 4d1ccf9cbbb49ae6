import type { CheckedEvidence } from './checkCertificate.ts'
import type { Doubt } from './doubts.ts'
import type { StatedJudgement } from './judgementSchema.ts'

/** Of what a program is told. Grows only when a field goes or changes its meaning; fields may be added at any time. */
export const REPORT_FORMAT = 1

/** The answer in one word, for scripts and for people. */
export const VERDICTS = ['as-claimed', 'not-as-claimed', 'not-established', 'genuine', 'rejected'] as const
export type Verdict = (typeof VERDICTS)[number]

interface Said {
  readonly outcome: StatedJudgement['outcome']
  readonly claim: Pick<NonNullable<StatedJudgement['claim']>, 'verdict'> | null
}

/** Genuine work by another box than was sold is not a success for whoever asks with a claim. */
export function verdictOf({ outcome, claim }: Said): Verdict {
  if (outcome === 'rejected') return 'rejected'
  if (claim === null) return 'genuine'
  if (claim.verdict === 'unproven') return 'not-established'
  return claim.verdict === 'matches' ? 'as-claimed' : 'not-as-claimed'
}

/**
 * The same of a file. Where signer and reader agree that it is not as claimed, no doubt makes it better; nor where it is not
 * what the reader himself was sold, whatever its signer was told (attack 466).
 */
export function verdictOfCheck(checked: CheckedEvidence): Verdict {
  if (checked.problem) return 'rejected'
  const verdict = statedIn(checked)
  if (verdict === 'not-as-claimed' && checked.kind === 'certificate' && checked.isReadersClaim) return verdict
  const isAgainst = verdict === 'rejected' || verdict === 'not-as-claimed'
  const leavesOpen = ({ code }: Doubt) => !isAgainst || code === 'CATALOGUES_DIFFER' || code === 'RULES_DIFFER'
  return checked.doubts.some(leavesOpen) ? 'not-established' : verdict
}

/** A summary is never without a doubt: its signer is believed where he speaks against the box alone (attack 374). */
function statedIn(checked: CheckedEvidence): Verdict {
  if (checked.kind === 'summary') return verdictOf(checked.read.statement.predicate)
  return checked.kind === 'certificate' ? verdictOf(checked.answer) : 'genuine'
}
