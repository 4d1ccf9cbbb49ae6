import { z } from 'zod'
import { factText } from './factText.ts'

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

export interface BoxFacts {
  readonly gpuCount: number
  readonly gpuMemoryBytes: number
  readonly bf16OpsPerSec: number
  readonly cpuWhetstoneMips: number
  readonly ramBytes: number
  readonly diskBytes: number
  readonly diskBandwidth: number
  /** Identified model, or null for an unknown card. */
  readonly model: string | null
}

export interface Missing {
  readonly requirement: keyof Requirements
  readonly got: number | string
  readonly need: number | string
  readonly sentence: string
}

const bytes = (value: number): string => factText(value, 'B')

const FIELDS = {
  gpuCount: ['GPUs', String],
  gpuMemoryBytes: ['GPU memory', bytes],
  bf16OpsPerSec: ['bf16 rate', (value: number) => factText(value, 'op/s')],
  cpuWhetstoneMips: ['CPU (Whetstone MIPS)', String],
  ramBytes: ['RAM', bytes],
  diskBytes: ['free disk', bytes],
  diskBandwidth: ['disk speed', (value: number) => factText(value, 'B/s')],
} as const satisfies Partial<Record<keyof Requirements, readonly [string, (value: number) => string]>>

type NumericField = keyof typeof FIELDS

/** Everything the box lacks, each with what it has and what it needs; nothing means it may join. */
export function checkRequirements(facts: BoxFacts, requirements: Requirements): readonly Missing[] {
  const names = Object.keys(FIELDS) as NumericField[]
  return [...names.flatMap((name) => checkNumber(name, facts, requirements)), ...checkModel(facts, requirements)]
}

function checkNumber(name: NumericField, facts: BoxFacts, requirements: Requirements): readonly Missing[] {
  const need = requirements[name]
  const got = facts[name]
  // Not "got < need": a NaN must not slip through.
  if (need === undefined || got >= need) return []
  const [label, format] = FIELDS[name]
  return [{ requirement: name, got, need, sentence: `${label}: has ${format(got)}, needs ${format(need)}` }]
}

function checkModel({ model }: BoxFacts, { models = [] }: Requirements): readonly Missing[] {
  if (models.length === 0 || (model !== null && models.includes(model))) return []
  const got = model ?? 'unknown'
  const need = models.join(', ')
  return [{ requirement: 'models', got, need, sentence: `GPU model: is ${got}, must be one of ${need}` }]
}
