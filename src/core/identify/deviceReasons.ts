import type { ProtocolVersion } from '../params/constants.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { buyerName } from './buyerName.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { type ClaimCode, type ClaimReason, claimReason } from './claimReasons.ts'
import { expectedRate } from './expected.ts'
import { deviationsOf, fitModel, type ModelFit } from './fitModel.ts'
import { fitsWithin } from './fits.ts'
import type { GpuIdentity } from './identifyGpu.ts'
import type { MeasuredGpu } from './measured.ts'
import { type ClassedDevice, undersizedParts } from './undersizedParts.ts'
import { unshownOf } from './unshown.ts'

export interface DeviceQuestion {
  readonly device: number
  readonly measured: MeasuredGpu
  /** What of it may speak against the claim. */
  readonly fair: MeasuredGpu
  readonly identity: GpuIdentity
  /** Likelihood of every model, with what was declined. */
  readonly shares: GpuIdentity['shares']
  readonly claimed: readonly GpuModel[]
  readonly catalogue: Catalogue
  /** The other devices of the run. */
  readonly beside: readonly ClassedDevice[]
  readonly rules: ProtocolVersion
}

/** Together a device keeps at least this share of its speed alone, or somebody else uses it too. */
const LEAST_SCALING = 0.8
/** A cooled card keeps at least this share of its speed through the sustained part. */
const LEAST_SUSTAINED = 0.85
/** A claimed model stays possible while it is at most this much less likely than the best one. */
const LIKELY_ENOUGH = Math.log(20)
/** Bandwidth this close to the expected one counts as full (natural logarithm, about 20 % below). */
const FULL_BANDWIDTH = -0.22
/** Two slow-downs this close are one and the same (natural logarithm). */
const SAME_LOSS = 0.25
/** A loss smaller than this is within what cards of one model differ by (natural logarithm). */
const CLEAR_LOSS = -0.2

/** Everything there is to say of one device against its claim: at least one reason. */
export function deviceReasons(question: DeviceQuestion): readonly ClaimReason[] {
  const { fair, identity, claimed, catalogue, rules } = question
  if (identity.status === 'cpu') return [reason(question, 'NOT_A_GPU', { got: 'CPU', expected: names(claimed) })]
  if (identity.restsOn.length === 0) {
    const code = rules === 1 ? 'NOTHING_SHOWN' : 'NOTHING_MEASURED'
    return [reason(question, code, { got: 0, expected: names(claimed) })]
  }
  const undersized = judgeSize(question)
  if (undersized.length > 0) return undersized
  const fits = claimed.map((model) => fitModel(model, fair, catalogue.rules)).sort(byLikelihood)
  const best = fits[0]!
  if (!isPossible(best, question)) return [judgeMismatch(question, best)]
  const losses = judgeLosses(question)
  if (losses.length > 0) return losses
  if (isSlow(best, question)) return [judgeSlowDown(question, best)]
  return rules === 1 ? [matches(question, best)] : judgeShown(question, fits.filter(fitsWithin))
}

/** Version 2: nothing speaks against the claim, but it matches only where everything that speaks for it was shown. */
function judgeShown(question: DeviceQuestion, fits: readonly ModelFit[]): readonly ClaimReason[] {
  const found = fits.map((fit) => ({ fit, unshown: unshownOf(fit.model, question) }))
  const nearest = found.reduce((a, b) => (b.unshown.length < a.unshown.length ? b : a))
  return nearest.unshown.length > 0 ? nearest.unshown : [matches(question, nearest.fit)]
}

const byLikelihood = (a: ModelFit, b: ModelFit): number =>
  Number(a.ruledOut !== null) - Number(b.ruledOut !== null) || b.logLikelihood - a.logLikelihood

/** The claimed model fits, and no model that is neither claimed nor a twin of it fits clearly better. */
function isPossible(best: ModelFit, { identity, claimed, fair, catalogue }: DeviceQuestion): boolean {
  if (!fitsWithin(best)) return false
  const winner = identity.model
  if (winner === null || claimed.includes(winner) || best.model.twins.includes(winner.id)) return true
  return fitModel(winner, fair, catalogue.rules).logLikelihood - best.logLikelihood <= LIKELY_ENOUGH
}

/** §4.0 and attack 27: a card identified from the catalogue must have run the class of that card. */
function judgeSize(question: DeviceQuestion): readonly ClaimReason[] {
  const { measured, identity, beside, catalogue } = question
  const { model } = identity
  const others = beside.length > 0 ? { beside: beside.length } : {}
  return undersizedParts({ model, measured }, beside, catalogue.rules).map(({ precision, ran, required }) =>
    reason(question, 'UNDERSIZED_RUN', { got: ran, expected: required, precision, model: model!.name, ...others }),
  )
}

function judgeLosses(question: DeviceQuestion): readonly ClaimReason[] {
  const { scaling, sustainedShare } = question.measured
  const lost = (code: ClaimCode, share: number | undefined, least: number) =>
    share !== undefined && share < least
      ? [reason(question, code, { got: thousandths(share), expected: thousandths(least) })]
      : []
  return [...lost('SLOWER_TOGETHER', scaling, LEAST_SCALING), ...lost('SPEED_FADES', sustainedShare, LEAST_SUSTAINED)]
}

const thousandths = (share: number): number => Math.round(1000 * share)

/** The card that was sold, but most of its rates lie below what the catalogue expects of it at the least. */
function isSlow(best: ModelFit, { measured, catalogue }: DeviceQuestion): boolean {
  const below = PRECISION_NAMES.flatMap((name) => {
    const rate = measured.rates?.[name]
    const expected = expectedRate(best.model, name, catalogue.rules)
    return rate === undefined || expected === null ? [] : [rate < expected.low]
  })
  return 2 * below.filter(Boolean).length > below.length
}

function judgeMismatch(question: DeviceQuestion, best: ModelFit): ClaimReason {
  const { identity, measured, catalogue, rules } = question
  const found = identity.model
  if (found !== null && !best.model.twins.includes(found.id)) {
    const code = isWeaker(found, best.model, catalogue) ? 'WEAKER_CARD' : 'OTHER_CARD'
    const got = rules === 1 ? found.name : buyerName([found.id, ...found.twins], catalogue)!
    return reason(question, code, { got, expected: best.model.name })
  }
  if (!looksLike(best, catalogue, measured)) return judgeStranger(question, best)
  return judgeLosses(question)[0] ?? judgeSlowDown(question, best)
}

function isWeaker(found: GpuModel, claimed: GpuModel, catalogue: Catalogue): boolean {
  const gaps = PRECISION_NAMES.flatMap((name) => {
    const a = expectedRate(found, name, catalogue.rules)
    const b = expectedRate(claimed, name, catalogue.rules)
    return a === null || b === null ? [] : [Math.log(a.centre / b.centre)]
  })
  const mean = gaps.length === 0 ? 0 : gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
  return mean < -0.05 || (mean < 0.05 && found.memoryBytes < claimed.memoryBytes)
}

/** The claimed card, with all rates lower by one and the same factor, memory as it should be. */
function looksLike(best: ModelFit, catalogue: Catalogue, measured: MeasuredGpu): boolean {
  const factor = Math.exp(meanRateDeviation(best))
  if (!(factor < 1) || Number.isNaN(factor)) return false
  const rates = Object.fromEntries(Object.entries(measured.rates ?? {}).map(([name, rate]) => [name, rate / factor]))
  const { bandwidth: _, ...rest } = measured
  return fitsWithin(fitModel(best.model, { ...rest, rates }, catalogue.rules))
}

function meanRateDeviation(fit: ModelFit): number {
  const found = PRECISION_NAMES.flatMap((name) => deviationsOf(fit)[name] ?? [])
  return found.reduce((sum, deviation) => sum + deviation, 0) / found.length
}

/** Compute alone slowed: power. Compute and memory slowed alike: somebody else uses the card. */
function judgeSlowDown(question: DeviceQuestion, best: ModelFit): ClaimReason {
  const compute = meanRateDeviation(best)
  const bandwidth = deviationsOf(best).bandwidth
  const facts = { got: thousandths(Math.exp(compute)), expected: 1000, model: best.model.name }
  if (bandwidth !== undefined && bandwidth >= FULL_BANDWIDTH) return reason(question, 'COMPUTE_CAPPED', facts)
  if (bandwidth !== undefined && compute < CLEAR_LOSS && Math.abs(bandwidth - compute) <= SAME_LOSS)
    return reason(question, 'ALL_PARTS_SLOWED', facts)
  return reason(question, 'TOO_SLOW', facts)
}

function judgeStranger(question: DeviceQuestion, best: ModelFit): ClaimReason {
  const values = Object.values(deviationsOf(best))
  const lower = values.length > 0 && values.every((deviation) => deviation <= 0)
  const { ruledOut } = best
  const facts = { got: 'unknown', expected: best.model.name, ...(ruledOut === null ? {} : { ruledOut }) }
  return reason(question, lower ? 'SLOWER_THAN_KNOWN' : 'NO_KNOWN_CARD', facts)
}

function matches(question: DeviceQuestion, best: ModelFit): ClaimReason {
  const { model, restsOn } = question.identity
  const expected = best.model.name
  return reason(question, 'FITS_CLAIM', { got: model?.name ?? expected, expected, restsOn })
}

const names = (models: readonly GpuModel[]): string => models.map((model) => model.name).join(' or ')

const reason = (
  { device }: DeviceQuestion,
  code: ClaimCode,
  facts: Omit<ClaimReason, 'code' | 'verdict' | 'device'>,
): ClaimReason => claimReason(code, { device, ...facts })
