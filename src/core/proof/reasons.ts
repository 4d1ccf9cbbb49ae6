/** Why a run is rejected. The code is stable and public; the facts are ours, never the prover's text. */
export type RejectCode =
  | 'MISSING_ROOT'
  | 'UNEXPECTED_ROOT'
  | 'LATE_ROOT'
  | 'EARLY_ROOT'
  | 'VANISHED'
  | 'REFUSED'
  | 'LATE_OPENING'
  | 'UNEXPECTED_OPENING'
  | 'WRONG_OPENING_SIZE'
  | 'OPENING_DOES_NOT_REACH_ROOT'
  | 'FILL_DOES_NOT_REACH_ROOT'
  | 'MALFORMED_MESSAGE'
  | 'UNEXPECTED_MESSAGE'
  | 'BAD_READY_SIGNATURE'
  | 'BAD_RESULT_SIGNATURE'
  | 'TOO_SHORT'
  | 'UNDERSIZED_RUN'

export interface RejectReason {
  readonly code: RejectCode
  readonly part?: number
  readonly device?: number
  readonly opening?: number
  readonly expected?: number | string
  readonly got?: number | string
}

const OTHER_WORK = 'The work was not done as asked. A retry draws new seeds; the failure counts against the provider.'
const SLOW = 'Free the machine from other work and run again; a repeated miss counts against the provider.'

/** What each refusal means, and what to do about it. */
export const REASONS: Readonly<Record<RejectCode, { readonly meaning: string; readonly nextStep: string }>> = {
  MISSING_ROOT: {
    meaning: 'a device that was asked sent fewer roots than the challenge demands',
    nextStep: OTHER_WORK,
  },
  UNEXPECTED_ROOT: {
    meaning: 'a root came twice, out of order, for another device, or one too many',
    nextStep: OTHER_WORK,
  },
  LATE_ROOT: { meaning: 'a root arrived after the limit of its part', nextStep: SLOW },
  EARLY_ROOT: { meaning: 'a root arrived before what it depends on was sent', nextStep: OTHER_WORK },
  VANISHED: {
    meaning: 'the prover fell silent or disconnected after the clock had started',
    nextStep: 'Keep the connection up for the whole run; from T0 on silence counts as a failure.',
  },
  REFUSED: {
    meaning: 'the prover gave up after the clock had started',
    nextStep: 'See the prover log on the box; run again.',
  },
  LATE_OPENING: { meaning: 'the openings arrived after their limit', nextStep: SLOW },
  UNEXPECTED_OPENING: { meaning: 'openings came before the nonce or for a part not asked', nextStep: OTHER_WORK },
  WRONG_OPENING_SIZE: { meaning: 'the openings have the wrong length for the tree of this part', nextStep: OTHER_WORK },
  OPENING_DOES_NOT_REACH_ROOT: {
    meaning: 'a tile computed by the verifier does not lead to the committed root along the path sent',
    nextStep: OTHER_WORK,
  },
  FILL_DOES_NOT_REACH_ROOT: {
    meaning: 'a tile of the memory fill is not the one committed before the passes',
    nextStep: OTHER_WORK,
  },
  MALFORMED_MESSAGE: {
    meaning: 'the prover sent bytes that are not a message of this protocol',
    nextStep: 'Install the release the validator offers; nothing else may write to standard output.',
  },
  UNEXPECTED_MESSAGE: {
    meaning: 'the prover sent a message at the wrong time',
    nextStep: 'Install the release the validator offers.',
  },
  BAD_READY_SIGNATURE: {
    meaning: 'the prover did not sign this challenge with its key',
    nextStep: 'Use one prover key per box.',
  },
  BAD_RESULT_SIGNATURE: {
    meaning: 'the prover did not sign this result with its key',
    nextStep: 'Use one prover key per box.',
  },
  TOO_SHORT: {
    meaning:
      'a timed part had too few rounds, or was over too soon twice: half of what the preset asks, 50 round trips',
    nextStep: 'The box ran much faster than in its calibration; run again on an idle box.',
  },
  UNDERSIZED_RUN: {
    meaning: 'the card inferred from the rates must run a larger size class than this run used',
    nextStep: 'Free the memory of the card, or stop slowing the calibration, and run again.',
  },
}

/** One sentence for a person: where, what, got and expected. */
export function explainReason(reason: RejectReason): string {
  const where = [
    reason.part === undefined ? '' : `part ${reason.part}`,
    reason.device === undefined ? '' : `device ${reason.device}`,
    reason.opening === undefined ? '' : `opening ${reason.opening}`,
  ].filter((text) => text !== '')
  const facts = [
    reason.expected === undefined ? '' : `expected ${reason.expected}`,
    reason.got === undefined ? '' : `got ${reason.got}`,
  ].filter((text) => text !== '')
  const place = where.length === 0 ? '' : ` (${where.join(', ')})`
  const detail = facts.length === 0 ? '' : `: ${facts.join(', ')}`
  return `${REASONS[reason.code].meaning}${place}${detail}`
}
