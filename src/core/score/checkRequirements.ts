import * as z from 'zod'
import { requireForm } from '../params/requireForm.ts'
import { formatBytesPerSecond, formatOps, withPrefix } from '../units/format.ts'
import type { BoxScoreInput } from './scoreBox.ts'
import { requireFacts } from './scoreForms.ts'

const least = z.number().positive().optional()

/** What a network asks of a box at the least; a field left out asks nothing. */
export const requirementsSchema = z.strictObject({
  gpuCount: z.int().positive().optional(),
  gpuMemoryBytes: least,
  bf16OpsPerSec: least,
  cpuWhetstoneMips: least,
  ramBytes: least,
  diskBytes: least,
  diskBandwidth: least,
  /** Catalogue ids that are accepted; empty or left out accepts all. */
  models: z.array(z.string()).readonly().optional(),
})

export type Requirements = z.infer<typeof requirementsSchema>

export interface Missing {
  readonly requirement: keyof Requirements
  readonly got: number | string
  readonly need: number | string
  readonly sentence: string
}

/** Decimal, as requirements are written. */
const bytes = (value: number): string => `${withPrefix(value)}B`

/** What a box has comes from the input of its score: there is one way from a judgement to facts. */
const FIELDS = {
  gpuCount: ['GPUs', String, ({ gpu }) => gpu?.count],
  gpuMemoryBytes: ['GPU memory', bytes, ({ gpu }) => gpu?.memoryBytes],
  bf16OpsPerSec: ['bf16 rate', formatOps, ({ gpu }) => gpu?.rates?.bf16],
  cpuWhetstoneMips: ['CPU (Whetstone MIPS)', String, ({ host }) => host?.cpuWhetstoneMips?.value],
  ramBytes: ['RAM', bytes, ({ host }) => host?.ramBytes?.value],
  diskBytes: ['free disk', bytes, ({ host }) => host?.diskBytes?.value],
  diskBandwidth: ['disk speed', formatBytesPerSecond, ({ host }) => host?.diskBandwidth?.value],
} as const satisfies Partial<Record<keyof Requirements, Field>>

type BoxFacts = Pick<BoxScoreInput, 'gpu' | 'host'>
type Field = readonly [string, (value: number) => string, (facts: BoxFacts) => number | undefined]
type NumericField = keyof typeof FIELDS

/**
 * Everything the box lacks, each with what it has and what it needs; nothing means it may join. Throws where something is
 * no fact, or no requirement: one that is misspelt would be asked of nobody (attack 445).
 */
export function checkRequirements(facts: BoxFacts, requirements: Requirements): readonly Missing[] {
  requireFacts(facts)
  requireForm(requirementsSchema, requirements, 'requirements')
  const names = Object.keys(FIELDS) as NumericField[]
  return [...names.flatMap((name) => checkNumber(name, facts, requirements)), ...checkModel(facts, requirements)]
}

function checkNumber(name: NumericField, facts: BoxFacts, requirements: Requirements): readonly Missing[] {
  const [label, format, of]: Field = FIELDS[name]
  const need = requirements[name]
  const got = of(facts) ?? 0
  if (need === undefined || got >= need) return []
  return [{ requirement: name, got, need, sentence: `${label}: has ${format(got)}, needs ${format(need)}` }]
}

function checkModel({ gpu }: BoxFacts, { models = [] }: Requirements): readonly Missing[] {
  const { model, soldAs = [] } = gpu ?? {}
  // A claim that is met says what the box is, also where its cards would be paid by their rates (attack 525).
  const isSold = soldAs.length > 0 && soldAs.every((id) => models.includes(id))
  if (models.length === 0 || isSold || (model && models.includes(model))) return []
  const got = model ?? (soldAs.join(' or ') || 'unknown')
  const need = models.join(', ')
  // A model counts where a claim shows all of it (attack 99).
  const is = got === 'unknown' ? 'no claim shows it (--claim)' : `is ${got}`
  return [{ requirement: 'models', got, need, sentence: `GPU model: ${is}, must be one of ${need}` }]
}
