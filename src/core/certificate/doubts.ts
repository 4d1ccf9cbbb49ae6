/** Why a file that holds still establishes nothing: neither a success nor a refusal. */
export type DoubtCode =
  | 'EXPIRED'
  | 'CATALOGUES_DIFFER'
  | 'RULES_DIFFER'
  | 'CLAIM_UNPROVEN'
  | 'SIGNER_REVOKED_SINCE'
  | 'SUMMARY_ALONE'

export interface Doubt {
  readonly code: DoubtCode
  readonly where?: string
}

export const DOUBTS: Readonly<Record<DoubtCode, { readonly meaning: string; readonly nextStep: string }>> = {
  EXPIRED: {
    meaning: 'its validity is over: it shows what was, not what is',
    nextStep: 'Ask for a new run, or say how old it may be with --max-age.',
  },
  CATALOGUES_DIFFER: {
    meaning: "by your catalogue the outcome is another than by the signer's",
    nextStep: 'Compare both below; with --catalogue FILE you judge by another one.',
  },
  RULES_DIFFER: {
    meaning: 'by the rules of today the outcome is another',
    nextStep: 'Have the box verified again with a current version.',
  },
  CLAIM_UNPROVEN: {
    meaning: 'the run neither shows what was sold nor speaks against it',
    nextStep: 'Have the box verified again, whole: preset mainnet and every part.',
  },
  SUMMARY_ALONE: {
    meaning: "a summary is its signer's word: nothing was recomputed",
    nextStep: 'Check it with its certificate: touchstone check SUMMARY --full FILE.',
  },
  SIGNER_REVOKED_SINCE: {
    meaning: 'its signer was revoked later, and who has the key can write any date',
    nextStep: 'Ask for a new run by a signer in good standing.',
  },
}
