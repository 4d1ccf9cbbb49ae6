/** Certificates: read, check and judge the evidence of a run. */
export { MAX_CERTIFICATE_BYTES } from '../core/certificate/envelope.ts'
export { judgementProblem } from '../core/certificate/judgementProblem.ts'
export type { DeviceJudgement, Judgement } from '../core/certificate/judgeRun.ts'
export { type CertificateProblem, PROBLEMS, type ProblemCode } from '../core/certificate/problems.ts'
export { type ReadCertificate, readCertificate } from '../core/certificate/readCertificate.ts'
