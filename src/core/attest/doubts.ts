/** Why evidence that holds shows less than it could. */
export const ATTEST_DOUBTS = {
  NONCE_NOT_YOURS: {
    meaning: 'the nonce is the one in the file: whether the evidence is fresh is not shown',
    nextStep: 'Choose a nonce, have the evidence made for it, and check with --nonce HEX.',
  },
  NOT_ATTESTED: {
    meaning: 'no such hardware attests: what you brought to judge it by had nothing to judge',
    nextStep: 'Have it attest, or leave out --policy and its like.',
  },
  NO_GOLDEN_VALUES: {
    meaning: 'without golden values nothing says what firmware and driver run on it',
    nextStep: "Hand in the vendor's files with --rim FILE.",
  },
  NO_REVOCATION: {
    meaning: 'without answers about revocation a certificate may have been revoked',
    nextStep: "Hand in stored answers with --ocsp FILE, AMD's list with --crl FILE.",
  },
  NO_SWITCHES: {
    meaning: 'the GPUs name switches between them that do not attest',
    nextStep: 'Have the evidence of the switches put into the same file.',
  },
  NO_COLLATERAL: {
    meaning: "without Intel's statements the processor's quote counts for nothing",
    nextStep: "Hand in what was fetched from Intel's service with --collateral FILE.",
  },
  CHIP_NOT_COMPARED: {
    meaning: 'no card was found that the chip could be held against: its evidence may be lent',
    nextStep: 'Verify an idle card of the catalogue with all its precisions, and name what was sold.',
  },
  CPU_IMAGE_UNKNOWN: {
    meaning: 'the policy does not name the image that the processor vouches for',
    nextStep: 'Add its measurement to your policy if you know the image.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly nextStep: string }>>

export interface AttestDoubt {
  readonly code: keyof typeof ATTEST_DOUBTS
  readonly where?: string
}
