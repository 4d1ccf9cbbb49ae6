import { openingRanges } from '../../core/proof/openingRanges.ts'
import type { RejectReason } from '../../core/proof/reasons.ts'
import type { Run } from '../../core/proof/verifyPart.ts'
import type { VerifyDeps } from './verifyBox.ts'

/** Every opening of a run so far; the first that does not hold, or null. */
export async function verifyAll(
  run: Run,
  { checker, onStep }: Pick<VerifyDeps, 'checker' | 'onStep'>,
  signal: AbortSignal,
): Promise<RejectReason | null> {
  const ranges = openingRanges(run)
  const of = ranges.reduce((sum, { from, to }) => sum + to - from, 0)
  let done = 0
  const onDone = (openings: number) => {
    done += openings
    onStep?.({ step: 'verify', done, of })
  }
  return await checker.check(run, ranges, onDone, signal)
}
