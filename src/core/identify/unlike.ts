import { PRECISION_NAMES } from '../params/precision.ts'
import type { MeasuredGpu } from './measured.ts'

/** Cards that hold so much more are read for longer, and the others wait for them (attack 465). */
export const MORE_MEMORY = 1.05
/** Cards of one model differ by no more than this in a rate. */
const FASTER = 1.25

/** Whether two devices of a run are hardly two cards of one model. */
export function isUnlike(a: MeasuredGpu, b: MeasuredGpu): boolean {
  const differ = (one = 0, other = 0, by: number) => Math.max(one, other) > by * Math.min(one, other)
  const rates = (of: MeasuredGpu) => of.rates ?? {}
  return (
    differ(a.memoryBytes, b.memoryBytes, MORE_MEMORY) ||
    PRECISION_NAMES.some((name) => differ(rates(a)[name], rates(b)[name], FASTER))
  )
}
