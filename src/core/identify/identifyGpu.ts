import type { Catalogue, GpuModel } from './catalogue.ts'
import { deviationsOf, type ModelFit } from './fitModel.ts'
import { CLOSEST, fitsWithin, rankModels } from './fits.ts'
import { cleanMeasured, type MeasuredGpu, measuredNames } from './measured.ts'
import type { RuledOut } from './ruleOut.ts'

export interface Candidate {
  readonly id: string
  readonly name: string
  /** Share of the likelihood among all models and "none of them". */
  readonly confidence: number
  readonly fits: boolean
  readonly ruledOut: RuledOut | null
  readonly deviations: Readonly<Record<string, number>>
}

/** Inferred, never proven (§1): which card most likely produced the measurement. */
export interface GpuIdentity {
  readonly status: 'identified' | 'unknown' | 'cpu'
  readonly model: GpuModel | null
  /** Confidence in exactly this model. */
  readonly confidence: number
  /** Confidence in this model or one of its stated twins. */
  readonly groupConfidence: number
  readonly twins: readonly string[]
  readonly closest: readonly Candidate[]
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
  if (measured.kind === 'cpu') return nobody('cpu', [], [])
  if (restsOn.length === 0) return nobody('unknown', [], [])
  const ranked = rankModels(measured, catalogue)
  const shares = confidences(ranked)
  const closest = ranked.slice(0, CLOSEST).map((fit) => candidate(fit, shares.get(fit.model.id)!))
  const best = ranked[0]
  if (best === undefined || !fitsWithin(best)) return { ...nobody('unknown', closest, restsOn), shares }
  return {
    status: 'identified',
    model: best.model,
    confidence: shares.get(best.model.id)!,
    groupConfidence: shareOf([best.model.id, ...best.model.twins], shares),
    twins: best.model.twins,
    closest,
    restsOn,
    shares,
  }
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

function candidate(fit: ModelFit, confidence: number): Candidate {
  const { id, name } = fit.model
  return { id, name, confidence, fits: fitsWithin(fit), ruledOut: fit.ruledOut, deviations: deviationsOf(fit) }
}

function nobody(status: 'unknown' | 'cpu', closest: readonly Candidate[], rests: readonly string[]): GpuIdentity {
  return {
    status,
    model: null,
    confidence: 0,
    groupConfidence: 0,
    twins: [],
    closest,
    restsOn: rests,
    shares: new Map(),
  }
}
