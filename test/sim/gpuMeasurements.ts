import type { Catalogue, CatalogueRules, GpuModel } from '../../src/core/identify/catalogue.ts'
import { expectedBandwidth, expectedRate } from '../../src/core/identify/expected.ts'
import type { MeasuredGpu } from '../../src/core/identify/measured.ts'
import { PRECISION_NAMES } from '../../src/core/params/precision.ts'

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

/** The catalogue's expected values, each with its own noise; held memory only ever falls short of the 95 % of §7. */
export function simulateCard(model: GpuModel, rules: CatalogueRules, uniform: Uniform, noise: number): MeasuredGpu {
  const noisy = (value: number) => value * Math.exp(noise * normal(uniform))
  const rates = Object.fromEntries(
    PRECISION_NAMES.flatMap((name) => {
      const expected = expectedRate(model, name, rules)
      return expected === null ? [] : [[name, noisy(expected.centre)]]
    }),
  )
  const bandwidth = expectedBandwidth(model, rules)
  return {
    rates,
    declined: PRECISION_NAMES.filter((name) => rates[name] === undefined),
    memoryBytes: model.memoryBytes * HELD_SHARE * Math.exp(-Math.abs(noise * normal(uniform))),
    ...(bandwidth === null ? {} : { bandwidth: noisy(bandwidth.centre) }),
  }
}

const between = (uniform: Uniform, low: number, high: number): number => low * (high / low) ** uniform()

/** A card that does not exist: speed, ratios between precisions, memory and bandwidth drawn over the whole market. */
export function inventCard(uniform: Uniform): MeasuredGpu {
  const fp16 = between(uniform, 8e12, 2e15)
  return {
    rates: {
      fp16,
      bf16: fp16 * between(uniform, 0.9, 1.1),
      int8: fp16 * between(uniform, 1, 4),
      fp8: fp16 * between(uniform, 1, 4),
      fp32: fp16 * between(uniform, 0.03, 1),
    },
    memoryBytes: between(uniform, 4e9, 3e11),
    bandwidth: between(uniform, 1e11, 1e13),
  }
}

/** A harder one: the rates of one real card with the memory of another and the bandwidth of a third. */
export function mixCards(catalogue: Catalogue, uniform: Uniform, noise: number): MeasuredGpu {
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
