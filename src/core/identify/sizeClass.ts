import type { Precision } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import { classK, largestSize } from '../proof/sizeClass.ts'
import type { CatalogueRules, GpuModel } from './catalogue.ts'
import { expectedRate } from './expected.ts'

/** §4.0: a round stays under 200 ms. */
const LONGEST_ROUND_S = 0.2
/**
 * An honest card is asked for its class by a short calibration run, which may read slow by chance, or on a box whose
 * memory is partly in use: the class it must have run is the one it reaches at half its speed with half its memory.
 * That is at most one step below; k, which is what matters for storing against recomputing, is never lowered.
 */
const MARGIN = 0.5
const SMALLEST = 1024

/**
 * The m = n a card of this model must have run at the least, or null where the catalogue holds no rate: derived from its
 * memory and from the low end of its expected rate, never typed by hand.
 */
export function requiredClass(model: GpuModel, precision: Precision, rules: CatalogueRules): number | null {
  const expected = expectedRate(model, precision, rules)
  if (expected === null) return null
  const k = classK(PRESETS.mainnet, 'cuda', 'rounds', precision)
  const most = expected.low * MARGIN * LONGEST_ROUND_S
  let size = largestSize(PRESETS.mainnet, 'cuda', precision, k, model.memoryBytes * MARGIN)
  while (size > SMALLEST && 2 * size * size * k > most) size /= 2
  return size
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
