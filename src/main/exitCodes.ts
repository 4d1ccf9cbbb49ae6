import type { Judgement } from '../core/certificate/judgeRun.ts'

/** What scripts can trust: every command ends with one of these. */
export const EXIT = { genuine: 0, rejected: 1, usage: 2, fault: 3 } as const

/** Genuine work on another box than was sold is no success: who asks with a claim is told by the exit code too. */
export const exitOf = ({ outcome, claim }: Pick<Judgement, 'outcome' | 'claim'>): number =>
  outcome === 'accepted' && (claim === null || claim.verdict === 'matches') ? EXIT.genuine : EXIT.rejected

/**
 * How "verify" ends: as its verdict, but a device that failed is a fault unless the verdict is worse. A prover that gave
 * up before it could know what would be opened is a fault too; afterwards it is a rejection (attack 34).
 */
export function exitOfReport(judgement: Pick<Judgement, 'outcome' | 'reason' | 'claim'>, failed: number): number {
  const exit = exitOf(judgement)
  const { reason } = judgement
  if (reason !== null) return reason.code === 'REFUSED' && reason.expected === 'roots' ? EXIT.fault : exit
  return exit === EXIT.genuine && failed > 0 ? EXIT.fault : exit
}
