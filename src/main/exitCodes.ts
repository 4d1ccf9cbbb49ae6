import type { Judgement } from '../core/certificate/judgeRun.ts'

/** What scripts can trust: every command ends with one of these. */
export const EXIT = { genuine: 0, rejected: 1, usage: 2, fault: 3 } as const

/** Genuine work on another box than was sold is no success: who asks with a claim is told by the exit code too. */
export const exitOf = ({ outcome, claim }: Pick<Judgement, 'outcome' | 'claim'>): number =>
  outcome === 'accepted' && (claim === null || claim.verdict === 'matches') ? EXIT.genuine : EXIT.rejected
