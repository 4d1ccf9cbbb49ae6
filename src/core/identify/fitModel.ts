import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { CatalogueRules, GpuModel } from './catalogue.ts'
import { type Expected, TOLERATED_EXCESS } from './expected.ts'
import type { MeasuredGpu } from './measured.ts'
import { type PreparedModel, prepareModel, type RateWay } from './prepareModel.ts'
import { ruleOut } from './ruleOut.ts'

export type ModelFit = ReturnType<typeof fitModel>

/** One value against its expectation. */
export interface FitTerm {
  readonly name: string
  /** ln(measured / expected): -0.1 is about 10 % less than expected. */
  readonly deviation: number
  readonly sigma: number
  /** Added to the squared distance: the way this value was reached is unusual. */
  readonly surcharge: number
  /** Whether clock, power and library move this value together with the other rates. */
  readonly shared: boolean
}

/** Spread of one value around its expectation: runs differ by about 10 %; a datasheet says less than a measurement. */
const SIGMA = { measured: 0.12, datasheet: 0.15 } as const
/** Spread of what moves all rates of a card together: clock, power limit, library. */
const SIGMA_SHARED = 0.12
const SIGMA_BANDWIDTH = { measured: 0.1, datasheet: 0.1 } as const
const SIGMA_MEMORY = 0.1
/** §7 fills 95 % of the card. */
const HELD_SHARE = 0.95
/** Added for a problem that was declined although the card has a unit for it: provers show what they can. */
const SURCHARGE_DECLINED = 6
/** §2: these leave room for Strassen, so an excess in them proves little. */
const FORGEABLE: readonly Precision[] = ['bf16', 'fp8']
const LN_TAU = Math.log(2 * Math.PI)

/** How well a measurement fits one model: log-normal, with one part shared by all rates so that ratios count fully. */
export function fitModel(model: GpuModel, measured: MeasuredGpu, rules: CatalogueRules) {
  const prepared = prepareModel(model, rules)
  const compared = compare(model, prepared, measured)
  const terms = compared.filter((term) => term !== null)
  const unexplained = compared.length - terms.length
  const { distance, logDeterminant } = mahalanobis(terms)
  const surcharge = terms.reduce((sum, term) => sum + term.surcharge, declinedInVain(prepared, measured))
  const total = distance + surcharge + unexplained
  return {
    model,
    /** Squared distance in standard deviations, over `degrees` values. */
    distance: total,
    degrees: terms.length + unexplained,
    logLikelihood: -0.5 * (total + logDeterminant + terms.length * LN_TAU + unexplained * LN_TAU),
    terms,
    /** Why this model is impossible, or null. */
    ruledOut: ruleOut(model, measured, rules),
  }
}

/** ln(measured / expected) per value, for a reader. */
export const deviationsOf = (fit: ModelFit): Readonly<Record<string, number>> =>
  Object.fromEntries(fit.terms.map((term) => [term.name, term.deviation]))

/** Value by value; null where the catalogue says nothing of it for this model, which neither fits nor rules out. */
function compare(
  model: GpuModel,
  { ways, bandwidth: expected }: PreparedModel,
  { rates = {}, bandwidth, memoryBytes }: MeasuredGpu,
): (FitTerm | null)[] {
  const shown = PRECISION_NAMES.filter((name) => rates[name] !== undefined)
  const anchored = shown.some((name) => !FORGEABLE.includes(name))
  return [
    ...shown.map((name) => rateTerm(name, rates[name]!, ways[name], anchored)),
    ...(bandwidth === undefined ? [] : [expected && bandwidthTerm(expected, bandwidth)]),
    ...(memoryBytes === undefined ? [] : [memoryTerm(model, memoryBytes)]),
  ]
}

const declinedInVain = ({ own }: PreparedModel, { declined = [] }: MeasuredGpu): number =>
  SURCHARGE_DECLINED * declined.filter((name) => own.has(name)).length

/** The cheapest explanation of a rate: the unit made for the problem, or a faster one posing as it. */
function rateTerm(name: Precision, rate: number, ways: readonly RateWay[], anchored: boolean): FitTerm | null {
  const terms = ways.map(({ expected, surcharge }): FitTerm => {
    // Unanchored rates must tie exactly, so that the slower card is named: no basis may count for more than another.
    const sigma = SIGMA[anchored ? expected.basis : 'datasheet']
    const deviation = Math.log(rate / expected.centre)
    const isExcess = deviation > 0 && FORGEABLE.includes(name)
    return {
      name,
      deviation: isExcess ? lessened(deviation, sigma, anchored) : deviation,
      sigma,
      surcharge,
      shared: true,
    }
  })
  return terms.reduce<FitTerm | null>((best, term) => (best && cost(best) <= cost(term) ? best : term), null)
}

/** Without a rate that cannot be forged, an excess must not speak for a better card at all (§2). */
const lessened = (excess: number, sigma: number, anchored: boolean): number =>
  anchored ? excess * (sigma / Math.log(TOLERATED_EXCESS)) : Math.max(0, excess - Math.log(TOLERATED_EXCESS))

const cost = (term: FitTerm): number => (term.deviation / term.sigma) ** 2 + term.surcharge

function bandwidthTerm({ centre, basis }: Expected, bandwidth: number): FitTerm {
  const deviation = Math.log(bandwidth / centre)
  return { name: 'bandwidth', deviation, sigma: SIGMA_BANDWIDTH[basis], surcharge: 0, shared: false }
}

/** One-sided: memory already in use makes the held share smaller; nothing makes it larger. */
function memoryTerm(model: GpuModel, memoryBytes: number): FitTerm {
  const deviation = Math.min(0, Math.log(memoryBytes / (model.memoryBytes * HELD_SHARE)))
  return { name: 'memory', deviation, sigma: SIGMA_MEMORY, surcharge: 0, shared: false }
}

/** Covariance = diag(sigma^2) + shared^2 * 1 1^T over the rates; inverse and determinant by Sherman and Morrison. */
function mahalanobis(terms: readonly FitTerm[]): { distance: number; logDeterminant: number } {
  let distance = 0
  let logDeterminant = 0
  let weighted = 0
  let weight = 0
  for (const { deviation, sigma, shared } of terms) {
    const inverse = 1 / (sigma * sigma)
    distance += deviation * deviation * inverse
    logDeterminant -= Math.log(inverse)
    if (!shared) continue
    weighted += deviation * inverse
    weight += inverse
  }
  const common = SIGMA_SHARED * SIGMA_SHARED
  const spread = 1 + common * weight
  return {
    distance: distance - (common * weighted * weighted) / spread,
    logDeterminant: logDeterminant + Math.log(spread),
  }
}
