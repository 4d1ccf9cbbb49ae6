import type { BoxReport } from '../apps/validator/verifyBox.ts'
import type { CheckedEvidence } from '../core/certificate/checkCertificate.ts'
import type { Judgement } from '../core/certificate/judgeRun.ts'

/** What scripts can trust: every command ends with one of these. */
export const EXIT = { genuine: 0, rejected: 1, usage: 2, fault: 3, notEstablished: 4 } as const

/** Genuine work by another box than was sold is not a success: the exit code tells whoever asks with a claim. */
export function exitOf({ outcome, claim }: Pick<Judgement, 'outcome' | 'claim'>): number {
  if (outcome === 'rejected') return EXIT.rejected
  if (claim === null || claim.verdict === 'matches') return EXIT.genuine
  return claim.verdict === 'unproven' ? EXIT.notEstablished : EXIT.rejected
}

/** How "check" ends. Where signer and reader agree that it is not as claimed, no doubt makes it better. */
export function exitOfCheck(checked: CheckedEvidence): number {
  if (checked.problem) return EXIT.rejected
  if (checked.kind === 'summary') return EXIT.notEstablished
  if (checked.kind === 'attestation') return checked.doubts.length > 0 ? EXIT.notEstablished : EXIT.genuine
  const differ = checked.doubts.some(({ code }) => code === 'CATALOGUES_DIFFER' || code === 'RULES_DIFFER')
  if (!differ && exitOf(checked.ours) === EXIT.rejected) return EXIT.rejected
  return checked.doubts.length > 0 ? EXIT.notEstablished : EXIT.genuine
}

/**
 * How "verify" ends: as its verdict, but a device that failed is a fault unless the verdict is worse. A prover that gave
 * up before it could know what would be opened is a fault too; afterwards it is a rejection (attack 34).
 */
export function exitOfReport({ judgement, gaveUp }: Pick<BoxReport, 'judgement' | 'gaveUp'>, failed: number): number {
  if (gaveUp) return EXIT.fault
  const exit = exitOf(judgement)
  return judgement.reason === null && exit !== EXIT.rejected && failed > 0 ? EXIT.fault : exit
}
