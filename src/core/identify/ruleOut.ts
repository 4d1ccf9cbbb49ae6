import { PRECISION_NAMES } from '../params/precision.ts'
import type { CatalogueRules, GpuModel } from './catalogue.ts'
import { TOLERATED_EXCESS } from './expected.ts'
import type { MeasuredGpu } from './measured.ts'
import { prepareModel } from './prepareModel.ts'

/** Below half of its memory a card is not recognised by it: another card explains it better. */
const LEAST_HELD_SHARE = 0.5

/** Why the measurement cannot come from this model, or null. */
export function ruleOut(model: GpuModel, measured: MeasuredGpu, rules: CatalogueRules): string | null {
  const held = measured.memoryBytes
  if (held !== undefined && held > model.memoryBytes) return 'holds more memory than the card has'
  if (held !== undefined && held < LEAST_HELD_SHARE * model.memoryBytes) return 'holds less than half of the memory'
  const { ceilings, bandwidth } = prepareModel(model, rules)
  for (const name of PRECISION_NAMES) {
    const rate = measured.rates?.[name]
    const ceiling = ceilings[name]
    if (rate !== undefined && ceiling !== null && rate > ceiling * TOLERATED_EXCESS)
      return `${name} work is more than 25 % faster than the card can be`
  }
  if (measured.bandwidth !== undefined && bandwidth !== null && measured.bandwidth > bandwidth.high * TOLERATED_EXCESS)
    return 'memory is more than 25 % faster than the card can be'
  return null
}
