import { PRECISION_NAMES } from '../params/precision.ts'
import type { Catalogue, CatalogueRules, GpuModel } from './catalogue.ts'
import { fitModel, type ModelFit } from './fitModel.ts'
import type { MeasuredGpu } from './measured.ts'
import { prepareModel } from './prepareModel.ts'
import { ruleOut } from './ruleOut.ts'

/** How many candidates an answer names. */
export const CLOSEST = 3

/** Squared distance that an honest card exceeds once in a hundred, by number of values (chi-square, 99 %). */
const CHI_SQUARE_99 = [0, 6.63, 9.21, 11.34, 13.28, 15.09, 16.81, 18.48, 20.09, 21.67, 23.21]

export function fitsWithin(fit: ModelFit): boolean {
  const limit = CHI_SQUARE_99[fit.degrees] ?? fit.degrees + 3.3 * Math.sqrt(2 * fit.degrees)
  return fit.ruledOut === null && fit.distance <= limit
}

/**
 * The possible models, most likely first; of equals the slower card (§2). Impossible ones follow only where fewer than
 * three are possible, so that the closest three can always be named.
 */
export function rankModels(measured: MeasuredGpu, { models, rules }: Catalogue): readonly ModelFit[] {
  const possible = models.filter((model) => ruleOut(model, measured, rules) === null)
  const speed = (fit: ModelFit) => expectedSpeed(fit.model, measured, rules)
  const rank = (some: readonly GpuModel[]) =>
    some
      .map((model) => fitModel(model, measured, rules))
      .sort((a, b) => b.logLikelihood - a.logLikelihood || speed(a) - speed(b))
  if (possible.length >= CLOSEST) return rank(possible)
  return [...rank(possible), ...rank(models.filter((model) => !possible.includes(model)))]
}

/** How fast the card is expected to be in what was measured, in logarithms. */
function expectedSpeed(model: GpuModel, measured: MeasuredGpu, rules: CatalogueRules): number {
  const { ways } = prepareModel(model, rules)
  const names = PRECISION_NAMES.filter((name) => measured.rates?.[name] !== undefined)
  return names.reduce((sum, name) => sum + Math.log(ways[name][0]?.expected.centre ?? 1), 0)
}
