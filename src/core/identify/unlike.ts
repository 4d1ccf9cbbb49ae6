import { PRECISION_NAMES } from '../params/precision.ts'
import type { MeasuredGpu } from './measured.ts'

/** Cards that hold so much more are read for longer, and the others wait for them (attack 465). */
export const MORE_MEMORY = 1.05
/** Cards of one model differ by no more than this in a rate. */
const FASTER = 1.25

const differ = (one: number, other: number, by: number) => Math.max(one, other) > by * Math.min(one, other)

export const holdsUnlike = (one = 0, other = 0): boolean => differ(one, other, MORE_MEMORY)

/** Whether two devices of a run are hardly two cards of one model. */
export const isUnlike = (a: MeasuredGpu, b: MeasuredGpu): boolean =>
  holdsUnlike(a.memoryBytes, b.memoryBytes) ||
  PRECISION_NAMES.some((name) => differ(a.rates?.[name] ?? 0, b.rates?.[name] ?? 0, FASTER))
