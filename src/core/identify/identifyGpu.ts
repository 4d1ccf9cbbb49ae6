import type { Catalogue, GpuModel } from './catalogue.ts'
import type { ModelFit } from './fitModel.ts'
import { CLOSEST, fitsWithin, rankModels } from './fits.ts'
import { cleanMeasured, type MeasuredGpu, measuredNames } from './measured.ts'

/** Inferred, never proven (§1): which card most likely produced the measurement. */
export interface GpuIdentity {
  readonly status: 'identified' | 'unknown' | 'cpu'
  readonly model: GpuModel | null
  /** Confidence in this model or one of its stated twins. */
  readonly groupConfidence: number
  readonly twins: readonly string[]
  /** The likeliest models, each with its share of the likelihood among all models and "none of them". */
  readonly closest: readonly { readonly id: string; readonly confidence: number }[]
  /** Which values the answer rests on. */
  readonly restsOn: readonly string[]
  /** Share of the likelihood of every possible model, by id. */
  readonly shares: ReadonlyMap<string, number>
}

/** "None of the catalogue": every value anywhere within three orders of magnitude is equally likely. */
const LN_RANGE = Math.log(Math.log(1000))

export function identifyGpu(given: MeasuredGpu, catalogue: Catalogue): GpuIdentity {
  const measured = cleanMeasured(given)
  const restsOn = measuredNames(measured)
  const nobody = { model: null, groupConfidence: 0, twins: [], closest: [], restsOn: [], shares: new Map() }
  if (measured.kind === 'cpu') return { status: 'cpu', ...nobody }
  if (restsOn.length === 0) return { status: 'unknown', ...nobody }
  const ranked = rankModels(measured, catalogue)
  const shares = confidences(ranked)
  const closest = ranked.slice(0, CLOSEST).map(({ model: { id } }) => ({ id, confidence: shares.get(id)! }))
  const [best] = ranked
  if (best === undefined || !fitsWithin(best)) return { status: 'unknown', ...nobody, closest, restsOn, shares }
  const { model } = best
  const groupConfidence = shareOf([model.id, ...model.twins], shares)
  return { status: 'identified', model, groupConfidence, twins: model.twins, closest, restsOn, shares }
}

/** The likelihood that some models have together. */
export function shareOf(ids: readonly string[], shares: GpuIdentity['shares']): number {
  let sum = 0
  for (const [id, share] of shares) if (ids.includes(id)) sum += share
  return Math.min(1, sum)
}

function confidences(ranked: readonly ModelFit[]): ReadonlyMap<string, number> {
  const possible = ranked.filter((fit) => fit.ruledOut === null)
  const nothing = -(ranked[0]?.degrees ?? 0) * LN_RANGE
  const top = Math.max(nothing, ...possible.map((fit) => fit.logLikelihood))
  const total = possible.reduce((sum, fit) => sum + Math.exp(fit.logLikelihood - top), Math.exp(nothing - top))
  const share = (fit: ModelFit) => (fit.ruledOut === null ? Math.exp(fit.logLikelihood - top) / total : 0)
  return new Map(ranked.map((fit) => [fit.model.id, share(fit)]))
}
