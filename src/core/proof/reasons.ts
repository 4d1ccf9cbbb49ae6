import * as z from 'zod'
import { count, fact } from '../bytes/fields.ts'

const OTHER_WORK = 'The work was not done as asked; that counts against the provider.'
const SLOW = 'Free the machine from other work and run again; a repeated miss counts against the provider.'
const ONE_KEY = 'Use one prover key per box.'

/** Why a run is rejected, what it means and what to do about it. Codes are stable and public. */
export const REASONS = {
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
    nextStep: 'Keep the connection up for the whole run.',
  },
  REFUSED: {
    meaning: 'the prover gave up after the clock had started',
    nextStep: 'See the prover log on the box; run again.',
  },
  LATE_OPENING: { meaning: 'the openings arrived after their limit', nextStep: SLOW },
  UNEXPECTED_OPENING: { meaning: 'openings came before the nonce or for a part not asked', nextStep: OTHER_WORK },
  WRONG_OPENING_SIZE: { meaning: 'the openings have the wrong length for the tree of this part', nextStep: OTHER_WORK },
  OPENING_DOES_NOT_REACH_ROOT: {
    meaning: 'a tile computed by the verifier does not lead to the committed root',
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
  BAD_READY_SIGNATURE: { meaning: 'the prover did not sign this challenge with its key', nextStep: ONE_KEY },
  BAD_RESULT_SIGNATURE: { meaning: 'the prover did not sign this result with its key', nextStep: ONE_KEY },
  TOO_SHORT: {
    meaning:
      'a timed part had too few rounds, or was over too soon twice: half of what the preset asks, 50 round trips',
    nextStep: 'The box ran much faster than in its calibration; run again on an idle box.',
  },
  UNDERSIZED_RUN: {
    meaning: 'the card inferred from the rates must run a larger size class than this run used',
    nextStep: 'Free the memory of the card, or stop slowing the calibration, and run again.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly nextStep: string }>>

export type RejectCode = keyof typeof REASONS

/** The facts are ours, never the prover's text. */
export const reasonSchema = z.strictObject({
  code: z.enum(Object.keys(REASONS) as RejectCode[]),
  part: count.exactOptional(),
  device: count.exactOptional(),
  opening: count.exactOptional(),
  expected: fact.exactOptional(),
  got: fact.exactOptional(),
})
export type RejectReason = Readonly<z.infer<typeof reasonSchema>>

/** One sentence for a person: where, what, got and expected. */
export function explainReason(reason: RejectReason): string {
  const named = (...names: readonly ('part' | 'device' | 'opening' | 'expected' | 'got')[]) =>
    names.flatMap((name) => (reason[name] === undefined ? [] : [`${name} ${reason[name]}`])).join(', ')
  const place = named('part', 'device', 'opening')
  const facts = named('expected', 'got')
  return `${REASONS[reason.code].meaning}${place && ` (${place})`}${facts && `: ${facts}`}`
}
