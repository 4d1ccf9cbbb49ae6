import type { Precision } from '../../core/params/precision.ts'

/** One prefix for all figures that stand side by side. */
export interface SpeedScale {
  readonly prefix: string
  readonly of: number
}

const SCALES: readonly SpeedScale[] = [
  { prefix: 'T', of: 1e12 },
  { prefix: 'G', of: 1e9 },
  { prefix: 'M', of: 1e6 },
]

/** The largest prefix of which there is one whole. */
export const speedScale = (...perSecond: readonly number[]): SpeedScale =>
  SCALES.find(({ of }) => Math.max(...perSecond) >= of) ?? SCALES.at(-1)!

/** Three digits, as far as they go: 1280, 701, 44.9. */
export function figure(value: number): string {
  if (value >= 99.95) return value.toFixed(0)
  return value.toFixed(value >= 9.995 ? 1 : 2)
}

/** As datasheets have it: TOPS for integers, TFLOPS for floating point. */
export const speedUnit = (precision: Precision, { prefix }: SpeedScale): string =>
  `${prefix}${precision === 'int8' ? 'OPS' : 'FLOPS'}`

/** A figure of a certificate ends at 2^53 - 1: there the device showed that or more. */
export const speedFigure = (perSecond: number, { of }: SpeedScale): string =>
  `${perSecond === Number.MAX_SAFE_INTEGER ? '>' : ''}${figure(perSecond / of)}`

export const speedText = (perSecond: number, precision: Precision, scale = speedScale(perSecond)): string =>
  `${speedFigure(perSecond, scale)} ${speedUnit(precision, scale)}`
