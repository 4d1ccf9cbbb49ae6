import type { Precision } from '../params/precision.ts'
import type { CatalogueRules, GpuModel } from './catalogue.ts'
import { expectedRate } from './expected.ts'

/** §4.0: m = n on a GPU are powers of two from 2^10 to 2^15. */
const CLASSES = [2 ** 15, 2 ** 14, 2 ** 13, 2 ** 12, 2 ** 11, 2 ** 10] as const
const LONGEST_ROUND_S = 0.2
const MEMORY_PART_SHARE = 0.03
/** Share of the card that is free on an idle box, at the least: error correction, driver and display take the rest. */
const FREE_SHARE = 0.8
const ENTRY_BYTES: Readonly<Record<Precision, number>> = { int8: 1, fp8: 1, bf16: 2, fp16: 2, fp32: 4 }

/** §4.0: k is never lowered. */
export const gpuDepth = (precision: Precision): number => (precision === 'fp32' ? 8192 : 32_768)

export interface SizeQuestion {
  readonly precision: Precision
  /** Operations a second, from the calibration run or the catalogue. */
  readonly rate: number
  readonly freeBytes: number
}

/** §4.0: the largest m = n whose operands and product fit free memory and whose round stays under 200 ms. */
export function sizeClassFor({ precision, rate, freeBytes }: SizeQuestion): number {
  const k = gpuDepth(precision)
  const found = CLASSES.find(
    (m) => roundBytes(m, k, ENTRY_BYTES[precision]) <= freeBytes && 2 * m * m * k <= rate * LONGEST_ROUND_S,
  )
  return found ?? CLASSES[CLASSES.length - 1]!
}

/** §4.0: the largest m = n of the memory part, whose operands and product fit in 3 % of the card. */
export function memoryClassFor(memoryBytes: number): number {
  const found = CLASSES.find((m) => roundBytes(m, gpuDepth('int8'), 1) <= memoryBytes * MEMORY_PART_SHARE)
  return found ?? CLASSES[CLASSES.length - 1]!
}

/**
 * The class a card of this model must have run, or null where the catalogue holds no rate. Taken from the low end of
 * what the model shows and from the memory that is free at the least, so that no honest card is called undersized.
 */
export function requiredClass(model: GpuModel, precision: Precision, rules: CatalogueRules): number | null {
  const expected = expectedRate(model, precision, rules)
  if (expected === null) return null
  return sizeClassFor({ precision, rate: expected.low, freeBytes: model.memoryBytes * FREE_SHARE })
}

export interface Undersized {
  readonly precision: Precision
  readonly ran: number
  readonly required: number
}

/** Attack 27: the parts that ran a smaller class than the identified card's. */
export function undersizedParts(
  model: GpuModel,
  classes: Readonly<Partial<Record<Precision, number>>>,
  rules: CatalogueRules,
): readonly Undersized[] {
  return (Object.entries(classes) as [Precision, number][]).flatMap(([precision, ran]) => {
    const required = requiredClass(model, precision, rules)
    return required !== null && ran < required ? [{ precision, ran, required }] : []
  })
}

const roundBytes = (m: number, k: number, entryBytes: number): number => 2 * m * k * entryBytes + 4 * m * m
