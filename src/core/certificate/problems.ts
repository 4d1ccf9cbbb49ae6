import type { Refusal } from '../attest/refusals.ts'
import type { RejectReason } from '../proof/reasons.ts'

const ASK_AGAIN = 'Ask the signer for the file again; do not rely on this one.'
const DISTRUST = 'Do not rely on this signer.'

/** Why a certificate is refused, what it means and what to do about it. */
export const PROBLEMS = {
  EMPTY: { meaning: 'the file is empty', nextStep: ASK_AGAIN },
  TOO_LARGE: { meaning: 'the file is larger than any certificate', nextStep: 'Name a certificate file.' },
  TRUNCATED: { meaning: 'the file is cut short', nextStep: ASK_AGAIN },
  NOT_A_CERTIFICATE: {
    meaning: 'the file is not a certificate',
    nextStep:
      'Name a file written by "touchstone verify". A report has it inside: save what it calls "The file itself".',
  },
  NOT_CANONICAL: {
    meaning: 'the file was changed: it is not in the one form that a certificate has',
    nextStep: ASK_AGAIN,
  },
  BAD_SIGNATURE: { meaning: 'the signature does not match the content', nextStep: ASK_AGAIN },
  UNKNOWN_SIGNER: {
    meaning: 'it is signed by a key you have not said you trust',
    nextStep: 'Compare the key with the one that the signer told you, then add --trust KEY.',
  },
  OTHER_VERSION: {
    meaning: 'the certificate is of another version',
    nextStep: 'Use the program version that wrote it.',
  },
  EARLIER_RECEIPT: {
    meaning: 'it is a receipt in a form that no release wrote',
    nextStep: 'Have the work done again with this version.',
  },
  OTHER_EVIDENCE: {
    meaning: 'the evidence behind the signed line is not the one that was signed',
    nextStep: 'Copy the file as bytes, not as text, or ask the signer for it again.',
  },
  MALFORMED: { meaning: 'a field is missing, unknown or of the wrong form', nextStep: ASK_AGAIN },
  BAD_CHALLENGE: { meaning: 'the challenge breaks a bound of the protocol', nextStep: DISTRUST },
  WRONG_SUBJECT: { meaning: 'subject, challenge and signer do not name the same run', nextStep: DISTRUST },
  WRONG_PRESET: { meaning: 'the challenge does not fit the stated preset', nextStep: DISTRUST },
  MISSING_PARTS: { meaning: 'not every part of the challenge has evidence', nextStep: ASK_AGAIN },
  WRONG_NONCE: { meaning: 'a nonce is not the one the challenge committed to', nextStep: DISTRUST },
  BAD_READY_SIGNATURE: { meaning: 'the prover did not sign the challenge', nextStep: DISTRUST },
  BAD_RESULT_SIGNATURE: { meaning: 'prover or validator did not sign the result', nextStep: DISTRUST },
  WRONG_FIGURES: { meaning: 'a figure does not follow from the evidence', nextStep: DISTRUST },
  WRONG_JUDGEMENT: { meaning: 'the judgement does not follow from the figures', nextStep: DISTRUST },
  RUN_REJECTED: {
    meaning: 'the run was rejected by its validator',
    nextStep: 'The box did not prove what it was asked.',
  },
  EVIDENCE_REJECTED: { meaning: 'the evidence breaks a rule of the protocol', nextStep: DISTRUST },
  UNKNOWN_EXTENSION: {
    meaning: 'it contains something that this version does not know and must not ignore',
    nextStep: 'Check it with a newer version.',
  },
  WRONG_CATALOGUE: {
    meaning: 'the catalogue inside is invalid, or is not the one it was judged by',
    nextStep: DISTRUST,
  },
  WRONG_ANCHOR: { meaning: 'the seeds do not follow from the blocks it names', nextStep: DISTRUST },
  FROM_THE_FUTURE: {
    meaning: 'it is dated in the future',
    nextStep: 'Set the clock of this machine; if it is right, do not rely on this signer.',
  },
  TOO_OLD: { meaning: 'it is older than --max-age allows', nextStep: 'Have the box verified again.' },
  WRONG_PROVER: {
    meaning: 'it is about another box than --prover names',
    nextStep: 'Ask for that of the box you mean.',
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
    nextStep: 'Ask for a new run by a signer in good standing.',
  },
  OTHER_FILE: {
    meaning: 'the summary is of another certificate than --full names',
    nextStep: 'Ask for the certificate with the hash that the summary names.',
  },
  SUMMARY_DIFFERS: {
    meaning: 'the summary does not follow from its certificate',
    nextStep: DISTRUST,
  },
  NOT_A_SUMMARY: {
    meaning: 'with --full the first file is a summary and the second its certificate',
    nextStep: 'Name the summary first.',
  },
  ATTESTATION_REFUSED: { meaning: "the hardware vendor's evidence does not hold", nextStep: DISTRUST },
  BAD_WORK: { meaning: 'the work it is about is none that this version can judge', nextStep: DISTRUST },
  WORK_NOT_SHOWN: {
    meaning: 'the work was not done as its specification says',
    nextStep: 'Do not pay for it: a patch of it is wrong.',
  },
  PROOF_WRONG: {
    meaning: 'the proof does not hold: the result is not that product',
    nextStep: 'Do not pay for it; have it computed elsewhere.',
  },
  OTHER_TENSOR: {
    meaning: 'a file that you handed in is not the one that the receipt is about',
    nextStep: 'Hand in the files of that run; if the result came with this receipt, do not rely on it.',
  },
  OTHER_RESULT: {
    meaning: 'the file that --result names is not what the receipt commits to',
    nextStep: 'Ask for the file again; if it came with this receipt, do not rely on it.',
  },
  OTHER_MODEL: {
    meaning: 'it is about another model than --model names',
    nextStep: 'Ask for that of the model you mean.',
  },
  WRONG_TIMES: { meaning: 'its times contradict each other', nextStep: DISTRUST },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly nextStep: string }>>

export type ProblemCode = keyof typeof PROBLEMS

export interface CertificateProblem {
  readonly code: ProblemCode
  readonly got?: string | number
  readonly expected?: string | number
  readonly where?: string
  /** The rule of the protocol that the evidence breaks. */
  readonly reason?: RejectReason
  /** What is wrong with a hardware vendor's evidence. */
  readonly refusal?: Refusal
}

export const isProblem = (value: object): value is CertificateProblem => 'code' in value
