import type { ScoreConfig } from './scoreConfig.ts'

/**
 * What is left of a score at a given age, from 1 to 0. Full while fresh; then halved in every half-life, straight lines
 * between the halvings: no exponential, so that every machine computes the same bits.
 */
export function shareAtAge(ageMs: number, { freshMs, halfLifeMs }: ScoreConfig['decay']): number {
  if (![ageMs, freshMs, halfLifeMs].every((ms) => Number.isFinite(ms) && ms >= 0) || halfLifeMs === 0)
    throw new RangeError('score: the age and the half-life must be numbers that are not negative')
  const spans = Math.max(0, ageMs - freshMs) / halfLifeMs
  const whole = Math.floor(spans)
  return whole > 1000 ? 0 : 2 ** -whole * (1 - (spans - whole) / 2)
}
