import { ATTEST_DOUBTS } from '../attest/doubts.ts'

/** Why a file that holds still establishes nothing: neither a success nor a refusal. */
export const DOUBTS = {
  EXPIRED: {
    meaning: 'it has expired: it shows what was true then, not now',
    nextStep: 'Ask for a new run.',
  },
  CATALOGUES_DIFFER: {
    meaning: "your catalogue gives another outcome than the signer's",
    nextStep: 'Compare the two below; --catalogue FILE judges by another one.',
  },
  RULES_DIFFER: {
    meaning: "today's rules give another outcome",
    nextStep: 'Have the box verified again with a current version.',
  },
  CLAIM_UNPROVEN: {
    meaning: 'the run neither shows what was sold nor speaks against it',
    nextStep: 'Have the box verified again, whole: preset mainnet and every part.',
  },
  DEVICE_FAILED: {
    meaning: 'not all of the box was judged',
    nextStep: 'Have the box verified again, whole.',
  },
  CUT_SHORT: {
    meaning: 'a part was over in less than half of the time that you asked for',
    nextStep:
      'Verify again; if it stays so, the box slows down while it is timed, or so long is more than can be asked.',
  },
  SUMMARY_ALONE: {
    meaning: "a summary is its signer's word: nothing was recomputed",
    nextStep: 'Check it together with its certificate: --full FILE.',
  },
  SIGNER_REVOKED_SINCE: {
    meaning: 'its signer was revoked later, and whoever has the key can write any date',
    nextStep: 'Ask for a new run by a signer in good standing.',
  },
  SELF_DRAWN: {
    meaning: 'the prover itself drew what was looked at, or signs alone: that shows accidents, not cheats',
    nextStep: 'Ask for one drawn by somebody you trust.',
  },
  INPUTS_NEEDED: {
    meaning: 'nothing was recomputed: it reads all of an input, which is not at hand',
    nextStep: 'Hand the inputs of the work in with --inputs FOLDER.',
  },
  DEAD_WORK: {
    meaning: 'more than half of what was looked at is work that anyone could skip: none of it is credited',
    nextStep: 'Do not pay for it as work; have it done on inputs that are not zeros.',
  },
  FASTER_THAN_PROVEN: {
    meaning: 'in its time the work would have needed a faster box than its certificate proves',
    nextStep: 'Do not take it for work of that box: others, or none, may have done it.',
  },
  CERTIFICATE_OF_ANOTHER_BOX: {
    meaning: 'the certificate is of another box than the work',
    nextStep: 'Name that of the prover of the receipt.',
  },
  NO_SUCH_SPEED: {
    meaning: 'the certificate bounds no speed of the kind that this work takes',
    nextStep: 'Have the box verified again, whole: preset mainnet and every part.',
  },
  NO_CLOCK: {
    meaning: 'nobody watched the work with a clock: how fast it was is not known',
    nextStep: 'Ask for a receipt of a work that somebody watched.',
  },
  OPERANDS_NOT_AT_HAND: {
    meaning: 'what it was made of was not compared: it may be the result of other inputs than yours',
    nextStep: 'Hand in your own files, as named above.',
  },
  RESULT_NOT_SHOWN: {
    meaning: 'work of this size was done; that its result is right is not shown',
    nextStep: 'Check it with --replay FOLDER.',
  },
  CODE_NOT_NAMED: {
    meaning: 'it is the product of two codes; that they are those of the operands you mean is not shown',
    nextStep: 'Name those published for A and B, --code HEX --code HEX, or hand in both with --given.',
  },
  MODEL_NOT_NAMED: {
    meaning: 'some weights give this answer; that they are the model you asked is not shown',
    nextStep: 'Name the model that its owner published: --model HEX.',
  },
  ...ATTEST_DOUBTS,
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly nextStep: string }>>

export type DoubtCode = keyof typeof DOUBTS

export interface Doubt {
  readonly code: DoubtCode
  readonly where?: string
}
