import type { RejectReason } from '../core/proof/reasons.ts'
import type { OpeningRange, Run } from '../core/proof/verifyPart.ts'

/** Recomputes openings. The work is pure; what differs is on how many cores it runs. */
export interface OpeningChecker {
  /** The first opening, in order, that fails; null when all hold. */
  check(
    run: Run,
    ranges: readonly OpeningRange[],
    onDone: (openings: number) => void,
    signal: AbortSignal,
  ): Promise<RejectReason | null>
  close(): Promise<void>
}
