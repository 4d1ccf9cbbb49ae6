import type { Tier } from '../../core/attest/checkBundle.ts'
import { ATTEST_DOUBTS } from '../../core/attest/doubts.ts'
import { REFUSALS } from '../../core/attest/refusals.ts'
import type { AttestedRun } from '../../core/certificate/attestedRun.ts'
import { labelled } from './labelled.ts'
import type { Colours } from './terminal.ts'

/** What each tier says of a run. */
export const TIERS: Readonly<Record<Tier, string>> = {
  A: 'tier A: the chips and the machine around them were there in this run',
  B: 'tier B: the chips were there in this run; not that they did the work',
  C: 'tier C: nothing attests',
}

/** What the hardware's vendors vouch for, or why that was refused; nothing where nothing attests, as with most cards. */
export function attestedLines({ tier, refusal, doubts, chips }: AttestedRun, colours: Colours): string[] {
  if (refusal) {
    const { meaning, nextStep } = REFUSALS[refusal.code]
    const lines = [`refused: ${meaning} [${refusal.code}]`, nextStep]
    return ['', ...lines.flatMap((text, i) => labelled(i === 0 ? 'attestation' : '', text)).map(colours.yellow)]
  }
  if (tier === null || tier === 'C') return []
  return [
    '',
    ...labelled('attestation', TIERS[tier]),
    ...chips.flatMap((chip) => labelled('', `chip ${chip}`)),
    ...doubts.flatMap(({ code }) => labelled('', `open: ${ATTEST_DOUBTS[code].meaning} [${code}]`)).map(colours.yellow),
  ]
}
