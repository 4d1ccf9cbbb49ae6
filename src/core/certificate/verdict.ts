import type { CheckedCertificate, CheckedEvidence } from './checkCertificate.ts'
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

/** The same of a file: whatever leaves it open makes no yes, and no no milder. */
export function verdictOfCheck(checked: CheckedEvidence): Verdict {
  if (checked.problem) return 'rejected'
  if (checked.kind === 'summary') return spoken(verdictOf(checked.read.statement.predicate))
  if (checked.kind === 'certificate' && isRefuted(checked)) return 'not-as-claimed'
  if (checked.doubts.length > 0) return 'not-established'
  return checked.kind === 'certificate' ? verdictOf(checked.answer) : 'genuine'
}

/** A summary is its signer's word, who is believed where he speaks against the box alone (attack 374). */
const spoken = (said: Verdict): Verdict => (said === 'rejected' || said === 'not-as-claimed' ? said : 'not-established')

/**
 * It is not what the reader himself was sold, whatever its signer was told (attack 466); or signer and reader agree that it
 * is not what the signer was told, for whichever reasons (attack 488). Whether the run counts at all today is another
 * question, and no way out (attack 487).
 */
function isRefuted({ isReadersClaim, answer, ours, read }: CheckedCertificate): boolean {
  const { judgement } = read.statement.predicate
  return (isReadersClaim ? [answer] : [judgement, ours]).every(saysNo)
}

const saysNo = ({ claim }: Pick<Said, 'claim'>): boolean =>
  claim !== null && claim.verdict !== 'matches' && claim.verdict !== 'unproven'
