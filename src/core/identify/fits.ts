import type { Catalogue } from './catalogue.ts'
import { fitModel, type ModelFit } from './fitModel.ts'
import type { MeasuredGpu } from './measured.ts'

/** Squared distance that an honest card exceeds once in a hundred, by number of values (chi-square, 99 %). */
const CHI_SQUARE_99 = [0, 6.63, 9.21, 11.34, 13.28, 15.09, 16.81, 18.48, 20.09, 21.67, 23.21]

export function fitsWithin(fit: ModelFit): boolean {
  const limit = CHI_SQUARE_99[fit.degrees] ?? fit.degrees + 3.3 * Math.sqrt(2 * fit.degrees)
  return fit.ruledOut === null && fit.distance <= limit
}

/** Every model against the measurement: possible ones first, then by likelihood; of equals the slower card (§2). */
export function rankModels(measured: MeasuredGpu, catalogue: Catalogue): readonly ModelFit[] {
  return catalogue.models
    .map((model) => fitModel(model, measured, catalogue.rules))
    .sort(
      (a, b) =>
        Number(a.ruledOut !== null) - Number(b.ruledOut !== null) ||
        b.logLikelihood - a.logLikelihood ||
        strength(a) - strength(b),
    )
}

const strength = ({ model }: ModelFit): number =>
  Math.max(
    ...Object.values(model.rates)
      .flat()
      .map((f) => f.value),
  )
