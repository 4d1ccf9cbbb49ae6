import type { Precision } from '../params/precision.ts'
import type { Proven } from '../params/provenance.ts'

/** What a run proved of one device. Nothing claimed compiles here. */
export type MeasuredGpu = Proven<{
  /** Which kind of challenge was run (§4.0); a CPU is never identified as a GPU. Left out means a GPU challenge. */
  readonly kind?: 'gpu' | 'cpu'
  /** Operations a second per problem. */
  readonly rates?: Readonly<Partial<Record<Precision, number>>>
  /** Problems the device said it cannot run; leave out those that were merely not asked. */
  readonly declined?: readonly Precision[]
  /** Capacity held (§7). */
  readonly memoryBytes?: number
  /** Bytes a second of the timed passes (§7). */
  readonly bandwidth?: number
  /**
   * §7: the memories of several devices, pass by pass together, or each on its own: one card may have served those in turns.
   * Left out of several devices it means the latter; nobody asked before attack 465.
   */
  readonly memoriesRead?: 'together' | 'in turns' | 'not asked'
  /** §8: operations a second of the bind part. */
  readonly bindRate?: number
  /** m = n of the rounds that gave each rate (§4.0). */
  readonly classes?: Readonly<Partial<Record<Precision, number>>>
  /** Last stretch of the sustained part against its first, 1 = no loss. */
  readonly sustainedShare?: number
  /** §8: rates together against rates alone, 1 = no loss. */
  readonly scaling?: number
}>

/**
 * The measurement without its zeros: a device that showed nothing in a part was not measured in it. Throws on what is
 * no measurement at all (negative, infinite, not a number), which is a fault of the caller.
 */
export function cleanMeasured(measured: MeasuredGpu): MeasuredGpu {
  const { rates, memoryBytes, bandwidth, bindRate, ...rest } = measured
  const shown = Object.entries(rates ?? {}).filter(([, rate]) => isShown(rate))
  return {
    ...rest,
    ...(shown.length > 0 ? { rates: Object.fromEntries(shown) } : {}),
    ...(isShown(memoryBytes) ? { memoryBytes } : {}),
    ...(isShown(bandwidth) ? { bandwidth } : {}),
    ...(isShown(bindRate) ? { bindRate } : {}),
  }
}

/** Which values of a clean measurement there are. */
export function measuredNames({ rates, memoryBytes, bandwidth }: MeasuredGpu): readonly string[] {
  return [
    ...Object.keys(rates ?? {}),
    ...(memoryBytes === undefined ? [] : ['memory']),
    ...(bandwidth === undefined ? [] : ['bandwidth']),
  ]
}

function isShown(value: Proven | undefined): value is Proven {
  if (value === undefined || value === 0) return false
  if (Number.isFinite(value) && value > 0) return true
  throw new RangeError('identify: every measured value must be a finite number, not below 0')
}
