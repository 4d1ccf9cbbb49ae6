import type { Catalogue, GpuModel } from '../identify/catalogue.ts'
import { copyBandwidth, expectedRate } from '../identify/expected.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { ScoreConfig } from './scoreConfig.ts'

/** Cards in the largest box that providers commonly offer. */
const BEST_COUNT = 8
const HOUR_MS = 3_600_000

/** Problems that buyers pay for weigh more: training and inference run in bf16, fp8 and fp16. */
const PRECISION_WEIGHTS: Readonly<Record<Precision, number>> = {
  int8: 0.15,
  fp8: 0.2,
  bf16: 0.35,
  fp16: 0.15,
  fp32: 0.15,
}

/** GPU 55 %, CPU 20 %, memory 15 %, disk 10 %, and eight of the best catalogued card as full marks. */
export function defaultScoreConfig(catalogue: Catalogue): ScoreConfig {
  return {
    mode: 'proven',
    weights: { gpu: 0.55, cpu: 0.2, ram: 0.15, disk: 0.1 },
    gpu: { rates: 0.7, memory: 0.12, bandwidth: 0.12, scaling: 0.06 },
    precisions: PRECISION_WEIGHTS,
    reference: bestReference(catalogue),
    limits: {
      cpuLookups: 2.5e12,
      cpuWhetstoneMips: 500_000,
      ramBytes: 1024 * 2 ** 30,
      ramBandwidth: 300e9,
      diskBytes: 4e12,
      diskBandwidth: 5e9,
    },
    unsustainedShare: 0.9,
    tiers: { A: 1, B: 1, C: 1 },
    registrationBonus: 20_000,
    allocationBonus: 50_000,
    decay: { freshMs: 2 * HOUR_MS, halfLifeMs: 6 * HOUR_MS },
    normalize: { scores: baseScores(catalogue), count: BEST_COUNT },
  }
}

function bestReference(catalogue: Catalogue): ScoreConfig['reference'] {
  const best = (pick: (model: GpuModel) => number) => BEST_COUNT * Math.max(...catalogue.models.map(pick))
  const rate = (name: Precision) => best((model) => expectedRate(model, name, catalogue.rules)?.centre ?? 0)
  return {
    rates: Object.fromEntries(PRECISION_NAMES.map((name) => [name, rate(name)])) as Record<Precision, number>,
    memoryBytes: best((model) => model.memoryBytes),
    bandwidth: best((model) => copyBandwidth(model, catalogue.rules) ?? 0),
  }
}

/** Base score of a model: its expected rates against the best ones, weighed like the proven rates. */
function baseScores(catalogue: Catalogue): Readonly<Record<string, number>> {
  const { rates } = bestReference(catalogue)
  const score = (model: GpuModel) =>
    PRECISION_NAMES.reduce((sum, name) => {
      const expected = expectedRate(model, name, catalogue.rules)?.centre ?? 0
      return sum + (PRECISION_WEIGHTS[name] * expected * BEST_COUNT) / rates[name]
    }, 0)
  return Object.fromEntries(catalogue.models.map((model) => [model.id, score(model)]))
}
