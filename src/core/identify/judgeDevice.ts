import { PRECISION_NAMES } from '../params/precision.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { expectedRate } from './expected.ts'
import { deviationsOf, fitModel, type ModelFit } from './fitModel.ts'
import { fitsWithin } from './fits.ts'
import type { GpuIdentity } from './identifyGpu.ts'
import type { MeasuredGpu } from './measured.ts'
import { type ClassedDevice, undersizedParts } from './sizeClass.ts'

export type ClaimVerdict =
  | 'matches'
  | 'weaker'
  | 'different'
  | 'shared'
  | 'throttled'
  | 'power-capped'
  | 'undersized run'

/** What a run can say of a claim: a verdict, or that it could not be read or nothing was measured to judge it by. */
export type ClaimAnswer = ClaimVerdict | 'unreadable' | 'unproven'

export interface ClaimReason {
  readonly code: string
  readonly verdict: ClaimVerdict
  /** Index of the device, or null when it concerns the box. */
  readonly device: number | null
  readonly sentence: string
  readonly got: number | string
  readonly expected: number | string
}

export interface DeviceQuestion {
  readonly device: number
  readonly measured: MeasuredGpu
  readonly identity: GpuIdentity
  readonly claimed: readonly GpuModel[]
  readonly catalogue: Catalogue
  /** The other devices of the run. */
  readonly beside: readonly ClassedDevice[]
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
export function judgeDevice(question: DeviceQuestion): readonly ClaimReason[] {
  const { measured, identity, claimed, catalogue } = question
  if (identity.status === 'cpu')
    return [reason(question, 'NOT_A_GPU', 'different', 'the device was challenged as a CPU', 'CPU', names(claimed))]
  if (identity.restsOn.length === 0)
    return [reason(question, 'NOTHING_SHOWN', 'weaker', 'the device showed no work', 0, names(claimed))]
  const undersized = judgeSize(question)
  if (undersized.length > 0) return undersized
  const fits = claimed.map((model) => fitModel(model, measured, catalogue.rules)).sort(byLikelihood)
  const best = fits[0]!
  if (!isPossible(best, question)) return [judgeMismatch(question, best)]
  const losses = judgeLosses(question)
  if (losses.length > 0) return losses
  return [isSlow(best, question) ? judgeSlowDown(question, best) : matches(question, best)]
}

const byLikelihood = (a: ModelFit, b: ModelFit): number =>
  Number(a.ruledOut !== null) - Number(b.ruledOut !== null) || b.logLikelihood - a.logLikelihood

/** The claimed model fits, and no model that is neither claimed nor a twin of it fits clearly better. */
function isPossible(best: ModelFit, { identity, claimed, measured, catalogue }: DeviceQuestion): boolean {
  if (!fitsWithin(best)) return false
  const winner = identity.model
  if (winner === null || claimed.includes(winner) || best.model.twins.includes(winner.id)) return true
  return fitModel(winner, measured, catalogue.rules).logLikelihood - best.logLikelihood <= LIKELY_ENOUGH
}

/** §4.0 and attack 27: a card identified from the catalogue must have run the class of that card. */
function judgeSize(question: DeviceQuestion): readonly ClaimReason[] {
  const { measured, identity, beside, catalogue } = question
  const { model } = identity
  return undersizedParts({ model, measured }, beside, catalogue.rules).map(({ precision, ran, required }) =>
    reason(
      question,
      'UNDERSIZED_RUN',
      'undersized run',
      `${precision} ran with m = n = ${ran}; a ${model!.name} runs ${required}${beside.length > 0 ? ' here' : ''}`,
      ran,
      required,
    ),
  )
}

function judgeLosses(question: DeviceQuestion): readonly ClaimReason[] {
  const { scaling, sustainedShare } = question.measured
  const found: ClaimReason[] = []
  if (scaling !== undefined && scaling < LEAST_SCALING)
    found.push(
      reason(
        question,
        'SLOWER_TOGETHER',
        'shared',
        'with all devices at work it keeps too little of its speed',
        scaling,
        LEAST_SCALING,
      ),
    )
  if (sustainedShare !== undefined && sustainedShare < LEAST_SUSTAINED)
    found.push(
      reason(question, 'SPEED_FADES', 'throttled', 'its speed fades while it works', sustainedShare, LEAST_SUSTAINED),
    )
  return found
}

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
  const { identity, catalogue } = question
  const found = identity.model
  if (found !== null && !best.model.twins.includes(found.id)) return judgeOther(question, found, best.model)
  const [loss] = judgeLosses(question)
  if (loss !== undefined && looksLike(best, catalogue, question.measured)) return loss
  return looksLike(best, catalogue, question.measured) ? judgeSlowDown(question, best) : judgeStranger(question, best)
}

/** The measurement fits a card that was not claimed. */
function judgeOther(question: DeviceQuestion, found: GpuModel, claimed: GpuModel): ClaimReason {
  const weaker = isWeaker(found, claimed, question.catalogue)
  const sentence = `what it did fits a ${found.name}, not a ${claimed.name}`
  return reason(
    question,
    weaker ? 'WEAKER_CARD' : 'OTHER_CARD',
    weaker ? 'weaker' : 'different',
    sentence,
    found.name,
    claimed.name,
  )
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
  const { bandwidth: _, ratios: __, ...rest } = measured
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
  const share = Math.exp(compute)
  const name = best.model.name
  if (bandwidth !== undefined && bandwidth >= FULL_BANDWIDTH)
    return reason(
      question,
      'COMPUTE_CAPPED',
      'power-capped',
      `a ${name} with full memory speed and lower rates: a power or clock limit, or a slower library`,
      share,
      1,
    )
  if (bandwidth !== undefined && compute < CLEAR_LOSS && Math.abs(bandwidth - compute) <= SAME_LOSS)
    return reason(question, 'ALL_PARTS_SLOWED', 'shared', `a ${name} with rates and memory speed lower alike`, share, 1)
  return reason(question, 'TOO_SLOW', 'weaker', `slower than a ${name} in every part`, share, 1)
}

function judgeStranger(question: DeviceQuestion, best: ModelFit): ClaimReason {
  const values = Object.values(deviationsOf(best))
  const lower = values.length > 0 && values.every((deviation) => deviation <= 0)
  const sentence = `what it did fits no card of the catalogue; closest claimed: ${best.model.name}${best.ruledOut === null ? '' : ` (${best.ruledOut})`}`
  return reason(
    question,
    lower ? 'TOO_SLOW' : 'NO_KNOWN_CARD',
    lower ? 'weaker' : 'different',
    sentence,
    'unknown',
    best.model.name,
  )
}

function matches(question: DeviceQuestion, best: ModelFit): ClaimReason {
  const { identity } = question
  const sentence = `what it did fits a ${best.model.name}; rests on ${identity.restsOn.join(', ')}`
  return reason(question, 'FITS_CLAIM', 'matches', sentence, identity.model?.name ?? best.model.name, best.model.name)
}

const names = (models: readonly GpuModel[]): string => models.map((model) => model.name).join(' or ')

function reason(
  { device }: DeviceQuestion,
  code: string,
  verdict: ClaimVerdict,
  sentence: string,
  got: number | string,
  expected: number | string,
): ClaimReason {
  return { code, verdict, device, sentence, got, expected }
}
