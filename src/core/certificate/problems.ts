import type { RejectReason } from '../proof/reasons.ts'

/** Why a certificate is refused. */
export type ProblemCode =
  | 'EMPTY'
  | 'TOO_LARGE'
  | 'TRUNCATED'
  | 'NOT_A_CERTIFICATE'
  | 'NOT_CANONICAL'
  | 'BAD_SIGNATURE'
  | 'UNKNOWN_SIGNER'
  | 'OTHER_VERSION'
  | 'MALFORMED'
  | 'BAD_CHALLENGE'
  | 'WRONG_SUBJECT'
  | 'WRONG_PRESET'
  | 'MISSING_PARTS'
  | 'WRONG_NONCE'
  | 'BAD_READY_SIGNATURE'
  | 'BAD_RESULT_SIGNATURE'
  | 'WRONG_FIGURES'
  | 'WRONG_JUDGEMENT'
  | 'RUN_REJECTED'
  | 'EVIDENCE_REJECTED'
  | 'UNKNOWN_EXTENSION'
  | 'WRONG_CATALOGUE'
  | 'WRONG_ANCHOR'
  | 'WRONG_TIMES'
  | 'FROM_THE_FUTURE'
  | 'TOO_OLD'
  | 'WRONG_PROVER'
  | 'WRONG_SIGNER'
  | 'TOO_FEW_SIGNERS'
  | 'SIGNER_REVOKED'
  | 'OTHER_FILE'
  | 'SUMMARY_DIFFERS'
  | 'NOT_A_SUMMARY'

export interface CertificateProblem {
  readonly code: ProblemCode
  readonly got?: string | number
  readonly expected?: string | number
  readonly where?: string
  /** The rule of the protocol that the evidence breaks. */
  readonly reason?: RejectReason
}

export const isProblem = (value: object): value is CertificateProblem => 'code' in value

const ASK_AGAIN = 'Ask the signer for the file again; do not rely on this one.'

export const PROBLEMS: Readonly<Record<ProblemCode, { readonly meaning: string; readonly nextStep: string }>> = {
  EMPTY: { meaning: 'the file is empty', nextStep: ASK_AGAIN },
  TOO_LARGE: { meaning: 'the file is larger than any certificate', nextStep: 'Name a certificate file.' },
  TRUNCATED: { meaning: 'the file is cut short', nextStep: ASK_AGAIN },
  NOT_A_CERTIFICATE: {
    meaning: 'the file is not a certificate',
    nextStep: 'Name a file written by "touchstone verify".',
  },
  NOT_CANONICAL: {
    meaning: 'the file was changed: it is not written in the one form that a certificate has',
    nextStep: ASK_AGAIN,
  },
  BAD_SIGNATURE: { meaning: 'the signature does not match the content', nextStep: ASK_AGAIN },
  UNKNOWN_SIGNER: {
    meaning: 'the certificate is signed by a key you have not said you trust',
    nextStep: 'Compare the key with the one the signer published, then add --trust KEY.',
  },
  OTHER_VERSION: {
    meaning: 'the certificate is of another version',
    nextStep: 'Use the program version that wrote it.',
  },
  MALFORMED: { meaning: 'a field is missing, unknown or of the wrong form', nextStep: ASK_AGAIN },
  BAD_CHALLENGE: { meaning: 'the challenge breaks a bound of the protocol', nextStep: 'Do not rely on this signer.' },
  WRONG_SUBJECT: {
    meaning: 'subject, challenge and signer do not name the same run',
    nextStep: 'Do not rely on this signer.',
  },
  WRONG_PRESET: { meaning: 'the challenge does not fit the stated preset', nextStep: 'Do not rely on this signer.' },
  MISSING_PARTS: { meaning: 'not every part of the challenge has evidence', nextStep: ASK_AGAIN },
  WRONG_NONCE: {
    meaning: 'a nonce is not the one the challenge committed to',
    nextStep: 'Do not rely on this signer.',
  },
  BAD_READY_SIGNATURE: { meaning: 'the prover did not sign the challenge', nextStep: 'Do not rely on this signer.' },
  BAD_RESULT_SIGNATURE: {
    meaning: 'prover or validator did not sign the result',
    nextStep: 'Do not rely on this signer.',
  },
  WRONG_FIGURES: { meaning: 'a figure does not follow from the evidence', nextStep: 'Do not rely on this signer.' },
  WRONG_JUDGEMENT: {
    meaning: 'the judgement does not follow from the figures',
    nextStep: 'Do not rely on this signer.',
  },
  RUN_REJECTED: {
    meaning: 'the run was rejected by its validator',
    nextStep: 'The box did not prove what it was asked.',
  },
  EVIDENCE_REJECTED: { meaning: 'the evidence breaks a rule of the protocol', nextStep: 'Do not rely on this signer.' },
  UNKNOWN_EXTENSION: {
    meaning: 'it contains something that this version does not know and must not ignore',
    nextStep: 'Check it with a newer version of the program.',
  },
  WRONG_CATALOGUE: {
    meaning: 'the catalogue inside is invalid, or is not the one it was judged by',
    nextStep: 'Do not rely on this signer.',
  },
  WRONG_ANCHOR: {
    meaning: 'the seeds do not follow from the blocks it names',
    nextStep: 'Do not rely on this signer.',
  },
  FROM_THE_FUTURE: {
    meaning: 'it is dated in the future',
    nextStep: 'Set the clock of this machine; if it is right, do not rely on this signer.',
  },
  TOO_OLD: { meaning: 'it is older than --max-age allows', nextStep: 'Have the box verified again.' },
  WRONG_PROVER: {
    meaning: 'it is about another box than --prover names',
    nextStep: 'Ask for the certificate of the box you mean.',
  },
  WRONG_SIGNER: {
    meaning: 'the key that --signer names has not signed it',
    nextStep: 'Ask that validator to sign it, or to verify the box.',
  },
  TOO_FEW_SIGNERS: {
    meaning: 'fewer keys that you trust have signed it than --signers asks for',
    nextStep: 'Name the keys you trust with --trust, or ask another validator to sign it.',
  },
  SIGNER_REVOKED: {
    meaning: 'it was signed after its signer was revoked or replaced',
    nextStep: 'Ask for a run by a signer in good standing.',
  },
  OTHER_FILE: {
    meaning: 'the summary belongs to another certificate than the file --full names',
    nextStep: 'Ask for the certificate with the hash that the summary names.',
  },
  SUMMARY_DIFFERS: {
    meaning: 'the summary says something that does not follow from its certificate',
    nextStep: 'Do not rely on this signer.',
  },
  NOT_A_SUMMARY: {
    meaning: 'with --full the first file is a summary and the second its certificate',
    nextStep: 'Name the summary first, or check the certificate by itself.',
  },
  WRONG_TIMES: { meaning: 'its times contradict each other', nextStep: 'Do not rely on this signer.' },
}
