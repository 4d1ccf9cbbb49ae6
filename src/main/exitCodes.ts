import type { BoxReport } from '../apps/validator/verifyBox.ts'
import type { CheckedEvidence } from '../core/certificate/checkCertificate.ts'
import { type Verdict, verdictOf, verdictOfCheck } from '../core/certificate/verdict.ts'

/** What scripts can trust: every command ends with one of these. */
export const EXIT = { genuine: 0, rejected: 1, usage: 2, fault: 3, notEstablished: 4 } as const

/** How a command ends that has an answer. */
const EXIT_OF: Readonly<Record<Verdict, number>> = {
  'as-claimed': EXIT.genuine,
  genuine: EXIT.genuine,
  'not-as-claimed': EXIT.rejected,
  rejected: EXIT.rejected,
  'not-established': EXIT.notEstablished,
}

export const exitOfCheck = (checked: CheckedEvidence): number => EXIT_OF[verdictOfCheck(checked)]

/**
 * How "verify" ends: as its verdict, but a device that failed is a fault unless the verdict is worse. A prover that gave
 * up before it could know what would be opened is a fault too; afterwards it is a rejection (attack 34).
 */
export function exitOfReport(
  { judgement, gaveUp }: Pick<BoxReport, 'judgement' | 'gaveUp'>,
  failed: number,
  verdict = verdictOf(judgement),
): number {
  if (gaveUp) return EXIT.fault
  const exit = EXIT_OF[verdict]
  return judgement.reason === null && exit !== EXIT.rejected && failed > 0 ? EXIT.fault : exit
}
