/** Certificates: read, check and judge the evidence of a run. */
export {
  type CheckedCertificate,
  type CheckedEvidence,
  type CheckedSummary,
  checkCertificate,
  checkSummary,
  type ReaderRules,
} from '../core/certificate/checkCertificate.ts'
export { DOUBTS, type Doubt, type DoubtCode } from '../core/certificate/doubts.ts'
export { MAX_CERTIFICATE_BYTES } from '../core/certificate/envelope.ts'
export type { DeviceJudgement, Judgement } from '../core/certificate/judgeRun.ts'
export { type CertificateProblem, PROBLEMS, type ProblemCode } from '../core/certificate/problems.ts'
export type { ReadCertificate } from '../core/certificate/readCertificate.ts'
export { type Evidence, readCertificate, readEvidence } from '../core/certificate/readEvidence.ts'
export { issueSummary, MAX_SUMMARY_BYTES } from '../core/certificate/summary.ts'
