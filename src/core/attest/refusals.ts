const ASK_AGAIN = 'Have the evidence made again with a fresh nonce; do not rely on this one.'
const OTHER_TOOL = 'Name a file that NVIDIA\'s tools or "touchstone verify" wrote, whole and unchanged.'
const FETCH = 'Have the golden values fetched from their vendor again.'
const DISTRUST = 'Do not rely on this machine.'

/** Why attestation evidence is refused, what that means and what to do about it (docs/spec/attestation.md). */
export const REFUSALS = {
  EVIDENCE_TOO_LARGE: { meaning: 'the evidence is larger than any there is', nextStep: OTHER_TOOL },
  EVIDENCE_MALFORMED: { meaning: 'the evidence is not in the form of its vendor', nextStep: OTHER_TOOL },
  CHAIN_LENGTH: { meaning: 'the chain of certificates is too short or too long', nextStep: ASK_AGAIN },
  CHAIN_BROKEN: { meaning: 'a certificate of the chain was not issued by the next one', nextStep: DISTRUST },
  CHAIN_CONSTRAINT: { meaning: 'a certificate is used for what it was not issued for', nextStep: DISTRUST },
  CHAIN_EXPIRED: {
    meaning: 'a certificate had expired',
    nextStep: 'Check it at the time it was made, or have it made again.',
  },
  CHAIN_NOT_YET_VALID: { meaning: 'a certificate was not valid yet', nextStep: 'Set the clock of this machine.' },
  UNKNOWN_ROOT: {
    meaning: 'the chain ends in a root that the policy does not name',
    nextStep: 'Do not rely on it, unless you know that root: then pin it in your policy.',
  },
  REPORT_SIGNATURE: { meaning: 'the device did not sign this report', nextStep: DISTRUST },
  NONCE_DIFFERS: { meaning: 'the report answers another nonce', nextStep: ASK_AGAIN },
  FWID_DIFFERS: { meaning: 'report and certificate name different firmware', nextStep: DISTRUST },
  DEVICE_KEY_DIFFERS: { meaning: 'the certificates name different devices', nextStep: DISTRUST },
  ARCH_DIFFERS: { meaning: 'the device is of another kind than the evidence says', nextStep: DISTRUST },
  ARCH_REFUSED: { meaning: 'the policy does not allow this kind of device', nextStep: 'Allow it in your policy.' },
  RIM_SIGNATURE: { meaning: 'the golden values are not as their vendor signed them', nextStep: FETCH },
  RIM_CONFLICT: { meaning: 'two files of golden values speak of the same measurement', nextStep: FETCH },
  MEASUREMENT_DIFFERS: {
    meaning: 'something else runs on the device than its vendor released',
    nextStep: DISTRUST,
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly nextStep: string }>>

export type RefusalCode = keyof typeof REFUSALS

/** A refusal as a value: its code, and where in the evidence. */
export interface Refusal {
  readonly code: RefusalCode
  /** In our own words, never in the sender's. */
  readonly where?: string
  readonly got?: string | number
  readonly expected?: string | number
}

/** Ends a check from inside; only the doors of this folder catch it, and hand on the value in it. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.code)
    this.refusal = refusal
  }
}

export function refuse(code: RefusalCode, facts: Omit<Refusal, 'code'> = {}): never {
  throw new Refused({ code, ...facts })
}

export const malformed = (where: string): never => refuse('EVIDENCE_MALFORMED', { where })
