import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import type { Tier } from '../../core/attest/checkBundle.ts'
import { ATTEST_DOUBTS } from '../../core/attest/doubts.ts'
import { labelled } from './labelled.ts'
import type { Colours } from './terminal.ts'

type Attested = Pick<BoxReport, 'attested' | 'judgement'>

/** What each tier says of a run. */
export const TIERS: Readonly<Record<Tier, string>> = {
  A: 'tier A: the chips and the machine around them were there in this run',
  B: 'tier B: the chips were there in this run; not that they did the work',
  C: 'tier C: nothing attests',
}

/**
 * What the hardware's vendors vouch for, or why that was refused; nothing where nothing attests, as with most cards, or the
 * run was rejected: no card is shown then (attack 377).
 */
export function attestedLines({ attested, judgement }: Attested, colours: Colours): string[] {
  const { tier, refusal, doubts, chips } = attested
  if (refusal) {
    const { meaning, nextStep } = refusal
    const lines = [`refused: ${meaning} [${refusal.code}]`, nextStep]
    return ['', ...lines.flatMap((text, i) => labelled(i === 0 ? 'attestation' : '', text)).map(colours.yellow)]
  }
  if (tier === null || tier === 'C' || judgement.reason) return []
  return [
    '',
    ...labelled('attestation', TIERS[tier]),
    ...chips.flatMap((chip) => labelled('', `chip ${chip}`)),
    ...doubts.flatMap(({ code }) => labelled('', `open: ${ATTEST_DOUBTS[code].meaning} [${code}]`)).map(colours.yellow),
  ]
}
