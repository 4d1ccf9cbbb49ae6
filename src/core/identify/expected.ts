import type { Precision } from '../params/precision.ts'
import type { Basis, CatalogueRules, GpuModel, PublishedFigure } from './catalogue.ts'

/** What a proof on this model should show: from `low` to `high`, most likely `centre`. */
export interface Expected {
  readonly low: number
  readonly centre: number
  readonly high: number
  readonly basis: Basis
}

/** §2: a rate up to this much above the best known one is tolerated, and says nothing about a better card. */
export const TOLERATED_EXCESS = 1.25

/**
 * §2: a precision names the problem, not the unit that solved it. Which units solve a problem exactly, and at which
 * share of their own rate: two passes of 8-bit integers hold a 9-bit or 12-bit entry; sums of int8 products beyond 2^24
 * are cut into shorter ones.
 */
const UNITS: Readonly<Record<Precision, Readonly<Partial<Record<Precision, number>>>>> = {
  int8: { fp16: 1, bf16: 1, fp32: 1 },
  fp8: { int8: 1, fp16: 1, bf16: 1, fp32: 1 },
  bf16: { fp16: 1, int8: 0.5, fp32: 1 },
  fp16: { bf16: 0.5, int8: 0.5, fp32: 1 },
  fp32: {},
}

const otherUnits = (precision: Precision) => Object.entries(UNITS[precision]) as [Precision, number][]

/** Expected rate of the problem on the unit made for it, or null where the catalogue holds no figure. */
export function expectedRate(model: GpuModel, precision: Precision, rules: CatalogueRules): Expected | null {
  return expectedOf(model.rates[precision] ?? [], fractionsOf(model, precision, rules))
}

export function expectedBandwidth(model: GpuModel, rules: CatalogueRules): Expected | null {
  return expectedOf(model.bandwidth, rules.bandwidth)
}

/** §7 compares with this: the copy bandwidth of the card, bytes a second. */
export function copyBandwidth(model: GpuModel, rules: CatalogueRules): number | null {
  return expectedBandwidth(model, rules)?.centre ?? null
}

/** Expected rates of the same problem on other units of the card, fastest first. */
export function posedRates(model: GpuModel, precision: Precision, rules: CatalogueRules): readonly Expected[] {
  const found = otherUnits(precision).flatMap(([unit, share]) => {
    const expected = expectedRate(model, unit, rules)
    if (expected === null) return []
    const { low, centre, high, basis } = expected
    return [{ low: low * share, centre: centre * share, high: high * share, basis }]
  })
  return found.sort((a, b) => b.centre - a.centre)
}

/** The most the card could show in this problem by any known way, before the tolerated excess; null if none is known. */
export function rateCeiling(model: GpuModel, precision: Precision, rules: CatalogueRules): number | null {
  const ways = [[precision, 1] as const, ...otherUnits(precision)]
  const highs = ways.flatMap(([unit, share]) => highsOf(model, unit, rules).map((high) => high * share))
  return highs.length === 0 ? null : Math.max(...highs)
}

/** §2: levels of Strassen, each of which saves an eighth, that int8 entries leave room for on units of other precisions. */
const STRASSEN_LEVELS: Partial<Record<Precision, number>> = { fp16: 4, bf16: 1, fp32: 4 }

/** The most a card could make of int8 products again by any known way (attack 479): what was kept is one of them. */
export function recomputeCeiling(model: GpuModel, rules: CatalogueRules): number {
  const units = ['int8', ...otherUnits('int8').map(([unit]) => unit)] as const
  const highs = units.flatMap((unit) =>
    highsOf(model, unit, rules).map((high) => high / (7 / 8) ** (STRASSEN_LEVELS[unit] ?? 0)),
  )
  return Math.max(0, ...highs)
}

function highsOf(model: GpuModel, precision: Precision, rules: CatalogueRules): readonly number[] {
  const fractions = fractionsOf(model, precision, rules)
  return (model.rates[precision] ?? []).map((figure) => figure.value * fractions[figure.basis].high)
}

type Fractions = CatalogueRules['bandwidth']

function fractionsOf(model: GpuModel, precision: Precision, { rate, fp32 }: CatalogueRules): Fractions {
  if (precision === 'fp32') return fp32
  const datasheet = model.line === 'consumer' ? rate.datasheetConsumer : rate.datasheetProfessional
  return { datasheet, measured: rate.measured }
}

/** A measurement outranks a datasheet. Several of one kind span a range; an `atLeast` figure only ever raises it. */
function expectedOf(figures: readonly PublishedFigure[], fractions: Fractions): Expected | null {
  const exact = figures.filter((figure) => figure.atLeast !== true)
  const basis: Basis = exact.some((figure) => figure.basis === 'measured') ? 'measured' : 'datasheet'
  const values = exact.filter((figure) => figure.basis === basis).map((figure) => figure.value)
  if (values.length === 0) return null
  const low = Math.min(...values) * fractions[basis].low
  const high = Math.max(...values) * fractions[basis].high
  const floor = Math.max(0, ...figures.filter((figure) => figure.atLeast === true).map((figure) => figure.value))
  return { low, centre: Math.max(Math.sqrt(low * high), floor), high: Math.max(high, floor), basis }
}
