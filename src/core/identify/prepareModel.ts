import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { CatalogueRules, GpuModel } from './catalogue.ts'
import {
  type Expected,
  expectedBandwidth,
  expectedRate,
  posedRates,
  rateCeiling,
  recomputeCeiling,
} from './expected.ts'

/** One way to reach a rate: the unit made for the problem, or another one, at a surcharge on the squared distance. */
export interface RateWay {
  readonly expected: Expected
  readonly surcharge: number
}

/** What the catalogue says of a model, worked out once: a certificate is judged against every model. */
export type PreparedModel = ReturnType<typeof prepare>

/** A unit posing as another where the honest one exists: possible (§2), but nobody does so by accident. */
const SURCHARGE_POSED = 6
/** The card has no unit for this problem, so one of several others was used. */
const SURCHARGE_OTHER_UNIT = 2

const known = new WeakMap<CatalogueRules, WeakMap<GpuModel, PreparedModel>>()

export function prepareModel(model: GpuModel, rules: CatalogueRules): PreparedModel {
  const ofRules = known.get(rules) ?? new WeakMap<GpuModel, PreparedModel>()
  const prepared = ofRules.get(model) ?? prepare(model, rules)
  known.set(rules, ofRules.set(model, prepared))
  return prepared
}

function prepare(model: GpuModel, rules: CatalogueRules) {
  return {
    ways: perPrecision((name) => waysOf(model, name, rules)),
    /** Problems the card has a unit for. */
    own: new Set(PRECISION_NAMES.filter((name) => expectedRate(model, name, rules) !== null)),
    ceilings: perPrecision((name) => rateCeiling(model, name, rules)),
    recomputes: recomputeCeiling(model, rules),
    bandwidth: expectedBandwidth(model, rules),
  }
}

function waysOf(model: GpuModel, name: Precision, rules: CatalogueRules): readonly RateWay[] {
  const own = expectedRate(model, name, rules)
  const others = posedRates(model, name, rules).filter((other) => own === null || other.centre > own.centre)
  const surcharge = own === null ? SURCHARGE_OTHER_UNIT : SURCHARGE_POSED
  return [
    ...(own === null ? [] : [{ expected: own, surcharge: 0 }]),
    ...others.map((expected) => ({ expected, surcharge })),
  ]
}

const perPrecision = <T>(make: (name: Precision) => T): Record<Precision, T> =>
  Object.fromEntries(PRECISION_NAMES.map((name) => [name, make(name)])) as Record<Precision, T>
