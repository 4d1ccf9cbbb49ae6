import type { Catalogue, GpuModel } from './catalogue.ts'
import { deviationsOf, type ModelFit } from './fitModel.ts'
import { CLOSEST, fitsWithin, rankModels } from './fits.ts'
import { cleanMeasured, type MeasuredGpu, measuredNames } from './measured.ts'

export interface Candidate {
  readonly id: string
  readonly name: string
  /** Share of the likelihood among all models and "none of them". */
  readonly confidence: number
  readonly fits: boolean
  readonly ruledOut: string | null
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
  const closest = ranked.slice(0, CLOSEST).map((fit, i) => candidate(fit, shares[i]!))
  const best = ranked[0]
  if (best === undefined || !fitsWithin(best)) return nobody('unknown', closest, restsOn)
  const twins = new Set(best.model.twins)
  const group = ranked.reduce((sum, fit, i) => (i === 0 || twins.has(fit.model.id) ? sum + shares[i]! : sum), 0)
  return {
    status: 'identified',
    model: best.model,
    confidence: shares[0]!,
    groupConfidence: Math.min(1, group),
    twins: best.model.twins,
    closest,
    restsOn,
  }
}

function confidences(ranked: readonly ModelFit[]): readonly number[] {
  const possible = ranked.filter((fit) => fit.ruledOut === null)
  const nothing = -(ranked[0]?.degrees ?? 0) * LN_RANGE
  const top = Math.max(nothing, ...possible.map((fit) => fit.logLikelihood))
  const total = possible.reduce((sum, fit) => sum + Math.exp(fit.logLikelihood - top), Math.exp(nothing - top))
  return ranked.map((fit) => (fit.ruledOut === null ? Math.exp(fit.logLikelihood - top) / total : 0))
}

function candidate(fit: ModelFit, confidence: number): Candidate {
  const { id, name } = fit.model
  return { id, name, confidence, fits: fitsWithin(fit), ruledOut: fit.ruledOut, deviations: deviationsOf(fit) }
}

function nobody(status: 'unknown' | 'cpu', closest: readonly Candidate[], rests: readonly string[]): GpuIdentity {
  return { status, model: null, confidence: 0, groupConfidence: 0, twins: [], closest, restsOn: rests }
}
