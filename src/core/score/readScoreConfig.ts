import type { ScoreConfig } from './scoreConfig.ts'
import { isWhole, requireScoreConfig } from './scoreForms.ts'

/** Thrown for a configuration that cannot be used: one sentence that names the field. */
export class ScoreConfigError extends Error {
  override readonly name = 'ScoreConfigError'
}

const refuse = (field: string, problem: string): never => {
  throw new ScoreConfigError(`Score configuration: ${field} ${problem}.`)
}

/** Groups whose numbers divide one whole. */
const WHOLES = ['weights', 'gpu', 'precisions'] as const

/**
 * The defaults with what a file changes. Strict: an unknown field is refused, because a misspelt weight would silently
 * pay by the default; a number is finite and not below 0, because a negative weight would pay for showing less.
 */
export function readScoreConfig(value: unknown, defaults: ScoreConfig): ScoreConfig {
  const config = override(value, defaults, 'the file') as ScoreConfig
  for (const group of WHOLES) {
    const parts: readonly number[] = Object.values(config[group])
    if (!isWhole(parts)) refuse(group, `must add up to 1, not ${parts.reduce((sum, part) => sum + part, 0)}`)
  }
  if (config.decay.halfLifeMs === 0) refuse('decay.halfLifeMs', 'must be above 0')
  for (const [tier, share] of Object.entries(config.tiers)) if (share > 1) refuse(`tiers.${tier}`, 'must be at most 1')
  const { precisions, normalize } = value as Partial<ScoreConfig>
  if (config.mode === 'normalize' && precisions !== undefined && normalize?.scores === undefined)
    refuse('normalize.scores', 'must be given with precisions: the defaults weigh them otherwise')
  if (config.unsustainedShare > 1) refuse('unsustainedShare', 'must be at most 1')
  // What the file leaves as it was is the caller's.
  requireScoreConfig(config)
  return config
}

function override(value: unknown, defaults: unknown, field: string): unknown {
  if (typeof defaults === 'number') return readNumber(value, field)
  if (typeof defaults === 'string') return readMode(value, field)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(field, 'must be a mapping')
  const known = defaults as Readonly<Record<string, unknown>>
  const changed = Object.entries(value).map(([key, part]) => {
    const inner = field === 'the file' ? key : `${field}.${key}`
    if (Object.hasOwn(known, key)) return [key, override(part, known[key], inner)]
    return field === 'normalize.scores' ? [key, readNumber(part, inner)] : refuse(inner, 'is not a known field')
  })
  return { ...known, ...Object.fromEntries(changed) }
}

function readNumber(value: unknown, field: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  return refuse(field, 'must be a finite number, not below 0')
}

function readMode(value: unknown, field: string): ScoreConfig['mode'] {
  if (value === 'proven' || value === 'normalize') return value
  return refuse(field, 'must be proven or normalize')
}
