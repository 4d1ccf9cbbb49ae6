import { PRECISION_NAMES } from '../params/precision.ts'
import type { GpuScoreInput, ScoreTerm } from './scoreBox.ts'
import { FULL_SCORE, type ScoreConfig } from './scoreConfig.ts'

/** The GPU share of the score: rates (or the model's base score), memory, bandwidth and scaling, all proven totals. */
export function gpuTerms(gpu: GpuScoreInput, config: ScoreConfig): readonly ScoreTerm[] {
  const marks = FULL_SCORE * config.weights.gpu
  const compute = config.mode === 'normalize' ? normalized(gpu, config) : null
  const rates = compute === null ? rateTerms(gpu, config) : [compute]
  const share = rates.reduce((sum, term) => sum + term.points, 0) / (marks * config.gpu.rates || 1)
  const scaling = Math.min(1, Math.max(0, gpu.scaling ?? 1))
  return [
    ...rates,
    part('gpu.memory', marks * config.gpu.memory, gpu.memoryBytes ?? 0, config.reference.memoryBytes),
    part('gpu.bandwidth', marks * config.gpu.bandwidth, gpu.bandwidth ?? 0, config.reference.bandwidth),
    { name: 'gpu.scaling', points: points(marks * config.gpu.scaling * scaling * share), got: scaling, full: 1 },
  ]
}

/**
 * Sustained over peak: a rate that was held counts in full, one that was only shown for seconds counts less. None counts for
 * more than its own short part showed, so that boxes on one card divide each rate once (attack 491).
 */
function rateTerms(gpu: GpuScoreInput, config: ScoreConfig): readonly ScoreTerm[] {
  const marks = FULL_SCORE * config.weights.gpu * config.gpu.rates
  return PRECISION_NAMES.map((name) => {
    const short = gpu.rates?.[name] ?? 0
    const held = Math.min(short, gpu.sustained?.[name] ?? short * config.unsustainedShare)
    return part(`gpu.${name}`, marks * config.precisions[name], held, config.reference.rates[name])
  })
}

/** Base score per model times count, scaled to the best configuration; an unknown model has none. */
function normalized(gpu: GpuScoreInput, { weights, gpu: gpuWeights, normalize }: ScoreConfig): ScoreTerm | null {
  if (gpu.model === undefined || !Object.hasOwn(normalize.scores, gpu.model)) return null
  const full = Math.max(...Object.values(normalize.scores)) * normalize.count
  const got = normalize.scores[gpu.model]! * Math.min(gpu.count, normalize.count)
  return part('gpu.base', FULL_SCORE * weights.gpu * gpuWeights.rates, got, full)
}

/** Straight line through zero and the reference; no upper limit for a GPU, so that every proven operation counts. */
function part(name: string, marks: number, got: number, full: number): ScoreTerm {
  return { name, points: full > 0 ? points((marks * got) / full) : 0, got, full }
}

/** Whole points: sums of whole numbers are exact, so the terms add up to the score to the last digit. */
const points = (value: number): number => Math.floor(value)
