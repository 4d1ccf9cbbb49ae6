import type { Precision } from '../params/precision.ts'
import { shareAtAge } from './decay.ts'
import { gpuTerms } from './gpuTerms.ts'
import { FULL_SCORE, type ScoreConfig } from './scoreConfig.ts'

/** Proven totals over all cards of the box. */
export interface GpuScoreInput {
  readonly count: number
  /** Catalogue id, for mode `normalize`; left out for an unknown card, which is scored by its rates. */
  readonly model?: string
  readonly rates?: Readonly<Partial<Record<Precision, number>>>
  readonly sustained?: Readonly<Partial<Record<Precision, number>>>
  readonly memoryBytes?: number
  readonly bandwidth?: number
  readonly scaling?: number
}

export interface BoxScoreInput {
  /** A failed run scores 0 at once; "busy" is no outcome: keep the last score and let it age. */
  readonly outcome: 'passed' | 'failed'
  readonly gpu: GpuScoreInput | null
  readonly cpuWhetstoneMips?: number
  readonly ramBytes?: number
  readonly ramBandwidth?: number
  readonly diskBytes?: number
  readonly diskBandwidth?: number
  readonly registered?: boolean
  readonly allocated?: boolean
  readonly ageMs: number
}

export interface ScoreTerm {
  readonly name: string
  readonly points: number
  /** What was measured and what full marks ask for, in the unit of the field. */
  readonly got: number
  readonly full: number
}

export interface BoxScore {
  /** Whole points; exactly the sum of the terms. */
  readonly score: number
  readonly terms: readonly ScoreTerm[]
  /** Why the score is 0, or null. */
  readonly zeroBecause: 'failed' | 'no gpu' | null
}

/** Measured facts to one number that explains itself. */
export function scoreBox(input: BoxScoreInput, config: ScoreConfig): BoxScore {
  ensureNumbers(input)
  if (input.outcome === 'failed') return { score: 0, terms: [], zeroBecause: 'failed' }
  if (input.gpu === null || input.gpu.count === 0 || !showsWork(input.gpu))
    return { score: 0, terms: [], zeroBecause: 'no gpu' }
  const terms = [...gpuTerms(input.gpu, config), ...restTerms(input, config), ...bonusTerms(input, config)]
  const fresh = sum(terms)
  const share = shareAtAge(input.ageMs, config.decay)
  const left = Math.floor(fresh * share)
  if (left < fresh) terms.push({ name: 'age', points: left - fresh, got: share, full: 1 })
  return { score: left, terms, zeroBecause: null }
}

const showsWork = (gpu: GpuScoreInput): boolean =>
  [...Object.values(gpu.rates ?? {}), ...Object.values(gpu.sustained ?? {})].some((rate) => rate > 0)

const sum = (terms: readonly ScoreTerm[]): number => terms.reduce((total, term) => total + term.points, 0)

function restTerms(input: BoxScoreInput, { weights, limits }: ScoreConfig): readonly ScoreTerm[] {
  const ram = (FULL_SCORE * weights.ram) / 2
  const disk = (FULL_SCORE * weights.disk) / 2
  return [
    capped('cpu', FULL_SCORE * weights.cpu, input.cpuWhetstoneMips ?? 0, limits.cpuWhetstoneMips),
    capped('ram.capacity', ram, input.ramBytes ?? 0, limits.ramBytes),
    capped('ram.bandwidth', ram, input.ramBandwidth ?? 0, limits.ramBandwidth),
    capped('disk.capacity', disk, input.diskBytes ?? 0, limits.diskBytes),
    capped('disk.bandwidth', disk, input.diskBandwidth ?? 0, limits.diskBandwidth),
  ]
}

/** Beyond its upper limit a part gives no more: a huge disk must not stand in for a GPU. */
function capped(name: string, marks: number, got: number, full: number): ScoreTerm {
  return { name, points: full > 0 ? Math.floor(marks * Math.min(1, got / full)) : 0, got, full }
}

function bonusTerms(input: BoxScoreInput, config: ScoreConfig): readonly ScoreTerm[] {
  const bonus = (name: string, has: boolean | undefined, marks: number): readonly ScoreTerm[] =>
    has === true ? [{ name, points: Math.floor(marks), got: 1, full: 1 }] : []
  return [
    ...bonus('bonus.registration', input.registered, config.registrationBonus),
    ...bonus('bonus.allocation', input.allocated, config.allocationBonus),
  ]
}

function ensureNumbers(input: BoxScoreInput): void {
  const { gpu } = input
  const values = [
    input.ageMs,
    input.cpuWhetstoneMips,
    input.ramBytes,
    input.ramBandwidth,
    input.diskBytes,
    input.diskBandwidth,
    ...(gpu === null ? [] : [gpu.count, gpu.memoryBytes, gpu.bandwidth, gpu.scaling]),
    ...Object.values(gpu?.rates ?? {}),
    ...Object.values(gpu?.sustained ?? {}),
  ]
  if (!values.every((value) => value === undefined || (Number.isFinite(value) && value >= 0)))
    throw new RangeError('score: every measured value must be a finite number, not below 0')
}
