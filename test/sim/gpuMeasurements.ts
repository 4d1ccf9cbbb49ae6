import type { Catalogue, CatalogueRules, GpuModel } from '../../src/core/identify/catalogue.ts'
import type { MeasuredGpu } from '../../src/core/identify/measured.ts'
import { prepareModel } from '../../src/core/identify/prepareModel.ts'
import { PRECISION_NAMES, type Precision } from '../../src/core/params/precision.ts'
import { proven } from '../../src/core/params/provenance.ts'
import { idleFill } from '../../src/core/proof/sizeClass.ts'

/** Uniform in [0, 1). */
export type Uniform = () => number

/** A seeded generator (mulberry32): the same draws on every machine. */
export function seededUniform(seed: number): Uniform {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}

export const normal = (uniform: Uniform): number =>
  Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())

const HELD_SHARE = 0.95

/** A factor for one measured value. */
export type Noise = (uniform: Uniform) => number

/** Anywhere from 10 % below to 10 % above. */
export const within10Percent: Noise = (uniform) => 0.9 + 0.2 * uniform()

/** A bell curve with a standard deviation of 10 %: one value in three is off by more than that. */
export const sigma10Percent: Noise = (uniform) => Math.exp(0.1 * normal(uniform))

/** The catalogue's expected values, each with its own noise; held memory only ever falls short of the 95 % of §7. */
export function simulateCard(model: GpuModel, rules: CatalogueRules, uniform: Uniform, noise: Noise): MeasuredGpu {
  const noisy = (value: number) => value * noise(uniform)
  const { own, ways, bandwidth } = prepareModel(model, rules)
  const rates: Partial<Record<Precision, number>> = {}
  for (const name of own) rates[name] = noisy(ways[name][0]!.expected.centre)
  return proven({
    rates,
    declined: PRECISION_NAMES.filter((name) => rates[name] === undefined),
    memoryBytes: model.memoryBytes * HELD_SHARE * (1 - Math.abs(1 - noise(uniform))),
    ...(bandwidth === null ? {} : { bandwidth: noisy(bandwidth.centre) }),
  })
}

/**
 * One run of our prover on an idle card: every value within a tenth of what is expected, the memory filled as §7 says.
 * It offers int8 on every card; one without a unit for it runs a plain kernel, a multiply-add of integers for one of fp32.
 */
export function honestRun(model: GpuModel, rules: CatalogueRules, uniform: Uniform): MeasuredGpu {
  const { declined = [], rates = {}, ...shown } = simulateCard(model, rules, uniform, within10Percent)
  const int8 = rates.int8 ?? prepareModel(model, rules).ways.fp32[0]!.expected.centre * within10Percent(uniform)
  return proven({
    ...shown,
    rates: { ...rates, int8 },
    declined: declined.filter((name) => name !== 'int8'),
    memoryBytes: idleFill(model),
    bindRate: 0.5 * int8,
  })
}

const between = (uniform: Uniform, low: number, high: number): number => low * (high / low) ** uniform()

/** A card that does not exist: speed, ratios between precisions, memory and bandwidth drawn over the whole market. */
export function inventCard(uniform: Uniform): MeasuredGpu {
  const fp16 = between(uniform, 8e12, 2e15)
  return proven({
    rates: {
      fp16,
      bf16: fp16 * between(uniform, 0.9, 1.1),
      int8: fp16 * between(uniform, 1, 4),
      fp8: fp16 * between(uniform, 1, 4),
      fp32: fp16 * between(uniform, 0.03, 1),
    },
    memoryBytes: between(uniform, 4e9, 3e11),
    bandwidth: between(uniform, 1e11, 1e13),
  })
}

/** A harder one: the rates of one real card with the memory of another and the bandwidth of a third. */
export function mixCards(catalogue: Catalogue, uniform: Uniform, noise: Noise): MeasuredGpu {
  const pick = () => {
    const model = catalogue.models[Math.floor(uniform() * catalogue.models.length)]!
    return simulateCard(model, catalogue.rules, uniform, noise)
  }
  const { memoryBytes } = pick()
  const { bandwidth } = pick()
  const { rates = {}, declined = [] } = pick()
  return {
    rates,
    declined,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(bandwidth === undefined ? {} : { bandwidth }),
  }
}

/** Whether some value is off by more than `factor` from what each card of the catalogue shows: no card is like it. */
export function isMadeUp(measured: MeasuredGpu, { models, rules }: Catalogue, factor: number): boolean {
  return models.every((model) => {
    const { own, ways, bandwidth } = prepareModel(model, rules)
    const pairs = [...own].map((name) => [measured.rates?.[name], ways[name][0]!.expected.centre])
    pairs.push([measured.bandwidth, bandwidth?.centre])
    pairs.push([measured.memoryBytes, model.memoryBytes * HELD_SHARE])
    return pairs.some(([got, centre]) => got && centre && Math.abs(Math.log(got / centre)) > Math.log(factor))
  })
}
