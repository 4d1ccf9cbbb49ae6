/** Certificates: read, check and judge the evidence of a run. */
import * as core from '../core/certificate/checkCertificate.ts'
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
  return await core.checkCertificate(file, rules, checkOpenings)
}

/** The same of a summary, beside the certificate that it sums up. */
export const checkSummary: typeof core.checkSummary = async (file, full, rules, checkOpenings) => {
  requireRules(rules)
  return await core.checkSummary(file, full, rules, checkOpenings)
}

export { DOUBTS, type Doubt, type DoubtCode } from '../core/certificate/doubts.ts'
export { MAX_CERTIFICATE_BYTES } from '../core/certificate/envelope.ts'
export type { DeviceJudgement, Judgement } from '../core/certificate/judgeRun.ts'
export { type CertificateProblem, PROBLEMS, type ProblemCode } from '../core/certificate/problems.ts'
export type { ReadCertificate } from '../core/certificate/readCertificate.ts'
export { type Evidence, readCertificate, readEvidence } from '../core/certificate/readEvidence.ts'
export { issueSummary, MAX_SUMMARY_BYTES } from '../core/certificate/summary.ts'
