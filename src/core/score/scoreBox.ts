import * as z from 'zod'
import type { Precision } from '../params/precision.ts'
import type { Fact, Inferred, Proven } from '../params/provenance.ts'
import { gpuTerms } from './gpuTerms.ts'
import { hostTerms } from './hostTerms.ts'
import { FULL_SCORE, type ScoreConfig } from './scoreConfig.ts'
import { requireScoreConfig, requireScoreInput } from './scoreForms.ts'
import { shareAtAge } from './shareAtAge.ts'

/** Totals over all cards of the box. */
export interface GpuScoreInput {
  readonly count: number
  /** Catalogue id, for mode `normalize`; left out for an unknown card, which is scored by its rates. */
  readonly model?: Inferred<string>
  /** Catalogue ids of the models that a claim names which is met; for requirements, not for pay. */
  readonly soldAs?: readonly string[]
  readonly rates?: Proven<Partial<Record<Precision, number>>>
  readonly sustained?: Proven<Partial<Record<Precision, number>>>
  readonly memoryBytes?: Proven
  readonly bandwidth?: Proven
  readonly scaling?: Proven
}

/** The box around the cards; every value says what it is worth. */
export type HostScoreInput = { readonly [K in keyof ScoreConfig['limits']]?: Fact }

export interface BoxScoreInput {
  /** A failed run scores 0 at once; "busy" is not an outcome: keep the last score and let it age. */
  readonly outcome: 'passed' | 'failed'
  readonly gpu: GpuScoreInput | null
  readonly host?: HostScoreInput
  /** From the validator's own records: no word of the box leads here. */
  readonly registered?: boolean
  readonly allocated?: boolean
  /** What attests; C where left out. */
  readonly tier?: 'A' | 'B' | 'C'
  readonly ageMs: number
}

export const scoreTerm = z.object({
  name: z.string(),
  points: z.number(),
  /** What was measured and what full marks ask for, in the unit of the field. */
  got: z.number(),
  full: z.number(),
  /** What a fact of the host is worth. */
  source: z.enum(['proven', 'measured', 'claimed']).optional(),
})
export type ScoreTerm = Readonly<z.infer<typeof scoreTerm>>

export interface BoxScore {
  /** Whole points; exactly the sum of the terms. */
  readonly score: number
  readonly terms: readonly ScoreTerm[]
  /** Why the score is 0, or null. */
  readonly zeroBecause: 'failed' | 'no gpu' | null
}

/** Facts to one number that explains itself. Throws where something is no fact, or no configuration (attack 445). */
export function scoreBox(input: BoxScoreInput, config: ScoreConfig): BoxScore {
  requireScoreInput(input)
  requireScoreConfig(config)
  if (input.outcome !== 'passed') return { score: 0, terms: [], zeroBecause: 'failed' }
  const { gpu } = input
  if (gpu === null || gpu.count === 0 || !showsWork(gpu)) return { score: 0, terms: [], zeroBecause: 'no gpu' }
  const cards = gpuTerms(gpu, config)
  const gpuShare = Math.min(1, sum(cards) / (FULL_SCORE * config.weights.gpu || 1))
  const terms = [...cards, ...hostTerms(input.host ?? {}, gpuShare, config), ...bonusTerms(input, gpuShare, config)]
  const factor = config.tiers[input.tier ?? 'C']
  const all = sum(terms)
  const fresh = Math.floor(all * factor)
  if (fresh < all) terms.push({ name: 'tier', points: fresh - all, got: factor, full: 1 })
  const share = shareAtAge(input.ageMs, config.decay)
  const left = Math.floor(fresh * share)
  if (left < fresh) terms.push({ name: 'age', points: left - fresh, got: share, full: 1 })
  return { score: left, terms, zeroBecause: null }
}

const showsWork = (gpu: GpuScoreInput): boolean =>
  [...Object.values(gpu.rates ?? {}), ...Object.values(gpu.sustained ?? {})].some((rate) => rate > 0)

const sum = (terms: readonly ScoreTerm[]): number => terms.reduce((total, term) => total + term.points, 0)

/** Scaled like the host: to be registered is worth next to nothing without a card. */
function bonusTerms(input: BoxScoreInput, gpuShare: number, config: ScoreConfig): readonly ScoreTerm[] {
  const bonus = (name: string, has: boolean | undefined, marks: number): readonly ScoreTerm[] =>
    has === true ? [{ name, points: Math.floor(marks * gpuShare), got: 1, full: 1 }] : []
  return [
    ...bonus('bonus.registration', input.registered, config.registrationBonus),
    ...bonus('bonus.allocation', input.allocated, config.allocationBonus),
  ]
}
