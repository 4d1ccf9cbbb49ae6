/** Certificates: read, check and judge the evidence of a run. */
import * as z from 'zod'
import * as core from '../core/certificate/checkCertificate.ts'
import * as summaries from '../core/certificate/summary.ts'
import { requireForm } from '../core/params/requireForm.ts'
import { FULL_SCORE } from '../core/score/scoreConfig.ts'
import { requireRules } from './requireRules.ts'

export type {
  CheckedCertificate,
  CheckedEvidence,
  CheckedSummary,
  ReaderRules,
} from '../core/certificate/checkCertificate.ts'

/** The whole check of a signed file. Throws where a rule is none. */
export const checkCertificate: typeof core.checkCertificate = async (file, rules, checkOpenings) => {
  requireRules(rules)
  return core.heldAgainst(rules.claim, await core.checkCertificate(file, rules, checkOpenings))
}

/** The same of a summary, beside the certificate that it sums up. */
export const checkSummary: typeof core.checkSummary = async (file, full, rules, checkOpenings) => {
  requireRules(rules)
  return core.heldAgainst(rules.claim, await core.checkSummary(file, full, rules, checkOpenings))
}

/** Signs the summary of a certificate. Throws at a score that no summary has, which nobody could read. */
export const issueSummary: typeof summaries.issueSummary = (read, text, signer, score) => {
  requireForm(z.int().min(0).max(FULL_SCORE).optional(), score, 'score')
  return summaries.issueSummary(read, text, signer, score)
}

export { DOUBTS, type Doubt, type DoubtCode } from '../core/certificate/doubts.ts'
export { MAX_CERTIFICATE_BYTES } from '../core/certificate/envelope.ts'
export type { DeviceJudgement, Judgement } from '../core/certificate/judgeRun.ts'
export { type CertificateProblem, PROBLEMS, type ProblemCode } from '../core/certificate/problems.ts'
export type { ReadCertificate } from '../core/certificate/readCertificate.ts'
export { type Evidence, readCertificate, readEvidence } from '../core/certificate/readEvidence.ts'
export { MAX_SUMMARY_BYTES } from '../core/certificate/summary.ts'
