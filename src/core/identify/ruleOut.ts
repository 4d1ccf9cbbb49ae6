import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { CatalogueRules, GpuModel } from './catalogue.ts'
import { TOLERATED_EXCESS } from './expected.ts'
import type { MeasuredGpu } from './measured.ts'
import { prepareModel } from './prepareModel.ts'

/** Below half of its memory a card is not recognised by it: another card explains it better. */
const LEAST_HELD_SHARE = 0.5

const faster = (name: Precision) => `FASTER_${name.toUpperCase() as Uppercase<Precision>}` as const

/** Why a measurement cannot come from a model. */
export const RULED_OUT = ['MORE_MEMORY', 'LESS_MEMORY', 'FASTER_MEMORY', ...PRECISION_NAMES.map(faster)] as const
export type RuledOut = (typeof RULED_OUT)[number]

/** Why the measurement cannot come from this model, or null. */
export function ruleOut(model: GpuModel, measured: MeasuredGpu, rules: CatalogueRules): RuledOut | null {
  const held = measured.memoryBytes
  if (held !== undefined && held > model.memoryBytes) return 'MORE_MEMORY'
  if (held !== undefined && held < LEAST_HELD_SHARE * model.memoryBytes) return 'LESS_MEMORY'
  const unreached = unreachedRate(model, measured.rates ?? {}, rules)
  if (unreached !== undefined) return faster(unreached)
  const { bandwidth } = prepareModel(model, rules)
  if (measured.bandwidth !== undefined && bandwidth !== null && measured.bandwidth > bandwidth.high * TOLERATED_EXCESS)
    return 'FASTER_MEMORY'
  return null
}

/** The first rate that the card cannot reach by any known way; undefined when it reaches all of them. */
export function unreachedRate(
  model: GpuModel,
  rates: NonNullable<MeasuredGpu['rates']>,
  rules: CatalogueRules,
): Precision | undefined {
  const { ceilings } = prepareModel(model, rules)
  return PRECISION_NAMES.find((name) => {
    const [rate, ceiling] = [rates[name], ceilings[name]]
    return rate !== undefined && ceiling !== null && rate > ceiling * TOLERATED_EXCESS
  })
}

export function explainRuledOut(why: RuledOut): string {
  if (why === 'MORE_MEMORY') return 'holds more memory than the card has'
  if (why === 'LESS_MEMORY') return 'holds less than half of the memory'
  const what = why === 'FASTER_MEMORY' ? 'memory' : `${why.slice('FASTER_'.length).toLowerCase()} work`
  return `${what} is more than 25 % faster than the card can be`
}
