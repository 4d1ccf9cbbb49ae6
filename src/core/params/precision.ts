/**
 * §2. Operands are integers small enough that no partial sum is ever rounded: an entry of A lies in [-maxA, maxA],
 * one of B in [-maxB, maxB]. fp32 has full significands instead and a fixed order of fused multiply-adds.
 */
export const PRECISIONS = {
  int8: { code: 0, maxA: 127, maxB: 127 },
  fp8: { code: 1, maxA: 15, maxB: 7 },
  bf16: { code: 2, maxA: 255, maxB: 63 },
  fp16: { code: 3, maxA: 2047, maxB: 15 },
  fp32: { code: 4, maxA: 0, maxB: 0 },
} as const

export type Precision = keyof typeof PRECISIONS

export const PRECISION_NAMES = Object.keys(PRECISIONS) as readonly Precision[]

export const isPrecision = (text: string): text is Precision => Object.hasOwn(PRECISIONS, text)
