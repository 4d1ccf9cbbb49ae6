import type { Precision } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import { classK, LONGEST_ROUND_SECONDS, largestSize, SMALLEST_SIZE } from '../proof/sizeClass.ts'
import type { CatalogueRules, GpuModel } from './catalogue.ts'
import { expectedRate } from './expected.ts'
import type { MeasuredGpu } from './measured.ts'

/**
 * An honest card is asked for its class by a short calibration run, which may read slow by chance, or on a box whose
 * memory is partly in use: the class it must have run is the one it reaches at half its speed with half its memory.
 * That is at most one step below; k, which is what matters for storing against recomputing, is never lowered.
 */
const MARGIN = 0.5

/**
 * The m = n a card of this model must have run at the least, or null where the catalogue holds no rate: derived from its
 * memory and from the low end of its expected rate, never typed by hand.
 */
export function requiredClass(model: GpuModel, precision: Precision, rules: CatalogueRules): number | null {
  const expected = expectedRate(model, precision, rules)
  return expected === null ? null : classAt(precision, expected.low, model.memoryBytes)
}

/** With the margin taken off both. */
function classAt(precision: Precision, rate: number, memoryBytes: number): number {
  const k = classK(PRESETS.mainnet, 'gpu', precision)
  let size = largestSize(PRESETS.mainnet, 'gpu', precision, k, memoryBytes * MARGIN)
  while (size > SMALLEST_SIZE && 2 * size * size * k > rate * MARGIN * LONGEST_ROUND_SECONDS) size /= 2
  return size
}

/** A device of a run: what it showed, and which card that is, if any. */
export interface ClassedDevice {
  readonly model: GpuModel | null
  readonly measured: Pick<MeasuredGpu, 'classes' | 'rates' | 'memoryBytes' | 'bandwidth'>
}

/** The class a device could have been asked for: its card's, or where no card is known, what it showed. */
function reachedClass({ model, measured }: ClassedDevice, precision: Precision, rules: CatalogueRules): number | null {
  const required = model && requiredClass(model, precision, rules)
  const rate = measured.rates?.[precision]
  if (required !== null || rate === undefined) return required
  return classAt(precision, rate, measured.memoryBytes ?? Number.POSITIVE_INFINITY)
}

/**
 * Attack 27: the parts in which a card that is known ran a smaller class than its own. One size serves all devices of a
 * run, so beside a slower card no more can be asked of a fast one than that card reaches.
 */
export function undersizedParts(
  { model, measured }: ClassedDevice,
  beside: readonly ClassedDevice[],
  rules: CatalogueRules,
) {
  if (model === null) return []
  return (Object.entries(measured.classes ?? {}) as [Precision, number][]).flatMap(([precision, ran]) => {
    const own = requiredClass(model, precision, rules)
    if (own === null) return []
    const required = Math.min(own, ...beside.map((other) => reachedClass(other, precision, rules) ?? own))
    return ran < required ? [{ precision, ran, required }] : []
  })
}
