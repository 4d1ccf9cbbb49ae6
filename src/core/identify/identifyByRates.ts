import type { Precision } from '../params/precision.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { copyBandwidth } from './expected.ts'
import { fitsWithin, rankModels } from './fits.ts'
import { ensureMeasured, type MeasuredGpu } from './measured.ts'

export interface RateIdentity {
  /** Every model that the rates alone allow, most likely first. */
  readonly candidates: readonly GpuModel[]
  /** The candidate whose bandwidth counts, or null for an unknown card ("held, read at x GB/s", not proven). */
  readonly counted: GpuModel | null
  /** Copy bandwidth of `counted`, bytes a second. */
  readonly copyBandwidth: number | null
}

/** A candidate this many times less likely than the best one is none. */
const LEAST_LIKELY = Math.log(100)

export interface RateQuestion {
  readonly rates: Readonly<Partial<Record<Precision, number>>>
  readonly kind?: 'gpu' | 'cpu'
  readonly catalogue: Catalogue
}

/**
 * §7: which card the capacity is judged by, from the rates of §4 alone, never from memory or bandwidth: otherwise the
 * answer to the memory part would choose its own threshold. Of several candidates the highest bandwidth counts.
 */
export function identifyByRates({ rates, kind, catalogue }: RateQuestion): RateIdentity {
  if (kind === 'cpu' || Object.keys(rates).length === 0) return { candidates: [], counted: null, copyBandwidth: null }
  const measured: MeasuredGpu = { rates }
  ensureMeasured(measured)
  const fits = rankModels(measured, catalogue).filter(fitsWithin)
  const best = fits[0]?.logLikelihood ?? 0
  const candidates = fits.filter((fit) => fit.logLikelihood >= best - LEAST_LIKELY).map((fit) => fit.model)
  let counted: GpuModel | null = null
  let fastest = 0
  for (const model of candidates) {
    const bandwidth = copyBandwidth(model, catalogue.rules)
    if (bandwidth === null || bandwidth <= fastest) continue
    counted = model
    fastest = bandwidth
  }
  return { candidates, counted, copyBandwidth: counted === null ? null : fastest }
}
