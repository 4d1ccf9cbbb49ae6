import type { RejectReason } from '../../core/proof/reasons.ts'
import type { OpeningRange, Run } from '../../core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'

export const countOpenings = (ranges: readonly OpeningRange[]): number =>
  ranges.reduce((sum, { from, to }) => sum + to - from, 0)

/** Recomputes these openings and tells how far it is; the first that does not hold, or null. */
export async function checkOpenings(
  run: Run,
  ranges: readonly OpeningRange[],
  { checker, signal }: { readonly checker: OpeningChecker; readonly signal: AbortSignal },
  tell: (done: number, of: number) => void,
): Promise<RejectReason | null> {
  const of = countOpenings(ranges)
  let done = 0
  const onDone = (more: number) => {
    done += more
    tell(done, of)
  }
  // From here on it is not the box that takes its time, also while others are checked first (attack 240).
  if (of > 0) tell(0, of)
  return await checker.check(run, ranges, onDone, signal)
}
