import { printable } from '../bytes/printable.ts'

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
  DRIVER_REFUSED: {
    meaning: 'the driver is older than the policy allows',
    nextStep: 'Have it updated, or allow it in your policy.',
  },
  GOLDEN_VALUES_MISSING: {
    meaning: 'the policy asks for golden values, and there are none for this device',
    nextStep: "Hand in the vendor's files with --rim FILE.",
  },
  REVOCATION_MISSING: {
    meaning: 'the policy asks for answers about revocation, and some are missing',
    nextStep: 'Hand in stored answers with --ocsp FILE.',
  },
  RIM_SIGNATURE: { meaning: 'the golden values are not as their vendor signed them', nextStep: FETCH },
  RIM_CONFLICT: { meaning: 'two files of golden values speak of the same measurement', nextStep: FETCH },
  MEASUREMENT_DIFFERS: {
    meaning: 'something else runs on the device than its vendor released',
    nextStep: DISTRUST,
  },
  OCSP_STALE: {
    meaning: 'the answer about revocation is not of that time',
    nextStep: 'Hand in an answer of the day the evidence was made.',
  },
  CERTIFICATE_REVOKED: { meaning: 'a certificate of the chain was revoked', nextStep: DISTRUST },
  DEVICE_TWICE: { meaning: 'the same chip is there twice', nextStep: DISTRUST },
  TOPOLOGY_DIFFERS: { meaning: 'the devices do not name each other', nextStep: ASK_AGAIN },
  OTHER_DEVICES: {
    meaning: 'other devices attest than took part, or others before the run than after it',
    nextStep: DISTRUST,
  },
  OTHER_CHIP: {
    meaning: 'the work points to a chip that is not among those that attest',
    nextStep: DISTRUST,
  },
  CPU_REPORT_SIGNATURE: { meaning: 'the processor did not sign this report', nextStep: DISTRUST },
  CPU_DEBUG: {
    meaning: 'whoever runs the machine can look into it or step in: it may be debugged, moved or trapped',
    nextStep: DISTRUST,
  },
  CPU_PRIVILEGE: {
    meaning: 'the processor was asked from below the image that it measured, by whatever runs there',
    nextStep: 'Have the report asked for at privilege level 0 (VMPL 0).',
  },
  CPU_HOST_DATA: {
    meaning: 'the host handed data to the image that no measurement covers',
    nextStep: 'Have it started without such data (HOST_DATA, MRCONFIGID, MROWNER), or measured with the image.',
  },
  CPU_BINDING_DIFFERS: { meaning: 'the report of the processor was made for something else', nextStep: ASK_AGAIN },
  CPU_TCB_REFUSED: {
    meaning: 'the policy does not allow this state of the processor',
    nextStep: 'Have its firmware updated, or allow the state in your policy.',
  },
  COLLATERAL_DIFFERS: {
    meaning: "the processor vendor's statements are not about this processor, or not of that time",
    nextStep: 'Have them fetched from the vendor and handed in with the evidence.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly nextStep: string }>>

export type RefusalCode = keyof typeof REFUSALS

/** Where in the evidence. */
interface Facts {
  readonly where?: string
  readonly got?: string | number
  readonly expected?: string | number
}

/** A refusal as a value: it brings its own words, so that who never checks evidence need not carry them all. */
export interface Refusal extends Facts {
  readonly code: RefusalCode
  readonly meaning: string
  readonly nextStep: string
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

/** Whatever the sender named, in his own letters, moves no cursor when it is told (attack 131). */
export function refuse(code: RefusalCode, facts: Facts = {}): never {
  const plain = Object.entries(facts).map(([name, fact]) => [name, typeof fact === 'string' ? printable(fact) : fact])
  throw new Refused({ code, ...Object.fromEntries(plain), ...REFUSALS[code] })
}

export const malformed = (where: string): never => refuse('EVIDENCE_MALFORMED', { where })
