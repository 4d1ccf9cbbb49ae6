import type { Precision } from '../params/precision.ts'

export interface RateRatio {
  readonly of: Precision
  readonly to: Precision
  readonly value: number
}

/** What a run proved of one device. Nothing claimed belongs here. At least one of the first four must be given. */
export interface MeasuredGpu {
  /** Which kind of challenge was run (§4.0); a CPU is never identified as a GPU. Left out means a GPU challenge. */
  readonly kind?: 'gpu' | 'cpu'
  /** Operations a second per problem. */
  readonly rates?: Readonly<Partial<Record<Precision, number>>>
  /** Problems the device said it cannot run; leave out those that were merely not asked. */
  readonly declined?: readonly Precision[]
  /** Ratios between problems, used where one of the two rates is not known by itself. */
  readonly ratios?: readonly RateRatio[]
  /** Capacity held (§7). */
  readonly memoryBytes?: number
  /** Bytes a second of the timed passes (§7). */
  readonly bandwidth?: number
  /** m = n of the rounds that gave each rate (§4.0). */
  readonly classes?: Readonly<Partial<Record<Precision, number>>>
  /** Last stretch of the sustained part against its first, 1 = no loss. */
  readonly sustainedShare?: number
  /** §8: rates together against rates alone, 1 = no loss. */
  readonly scaling?: number
}

export function ensureMeasured(measured: MeasuredGpu): void {
  const values = [
    ...Object.values(measured.rates ?? {}),
    ...(measured.ratios ?? []).map((ratio) => ratio.value),
    ...(measured.memoryBytes === undefined ? [] : [measured.memoryBytes]),
    ...(measured.bandwidth === undefined ? [] : [measured.bandwidth]),
  ]
  if (values.length === 0) throw new RangeError('identify: nothing was measured')
  if (!values.every((value) => Number.isFinite(value) && value > 0))
    throw new RangeError('identify: every measured value must be a finite number above 0')
}
