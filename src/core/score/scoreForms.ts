import * as z from 'zod'
import { PRECISION_NAMES } from '../params/precision.ts'
import { requireForm } from '../params/requireForm.ts'
import type { ScoreConfig } from './scoreConfig.ts'

/** S2: finite and not below 0. */
const amount = z.number().min(0)
const precision = z.enum(PRECISION_NAMES)
const rates = z.partialRecord(precision, amount.optional())
/** 1 is no loss, and noise shows a little more: beyond are percent and thousandths. */
const scaling = amount.max(2)
const knownAs = z.object({ source: z.enum(['proven', 'measured', 'claimed']), value: amount }).optional()

/** Strict, here and below: what has another name would be paid, or asked for, by nobody. */
const gpu = z
  .strictObject({
    count: z.int().min(0),
    model: z.string().optional(),
    soldAs: z.array(z.string()).readonly().optional(),
    rates: rates.optional(),
    sustained: rates.optional(),
    memoryBytes: amount.optional(),
    bandwidth: amount.optional(),
    scaling: scaling.optional(),
  })
  .nullable()

const host = z
  .strictObject({
    cpuLookups: knownAs,
    cpuWhetstoneMips: knownAs,
    ramBytes: knownAs,
    ramBandwidth: knownAs,
    diskBytes: knownAs,
    diskBandwidth: knownAs,
  })
  .optional()

const input = z.strictObject({
  outcome: z.enum(['passed', 'failed']),
  gpu,
  host,
  registered: z.boolean().optional(),
  allocated: z.boolean().optional(),
  tier: z.enum(['A', 'B', 'C']).optional(),
  ageMs: amount,
})

export const requireScoreInput = (given: unknown): void => requireForm(input, given, 'score')

/** The input of a score has more fields than these. */
const facts = z.object({ gpu, host })
export const requireFacts = (given: unknown): void => requireForm(facts, given, 'facts')

/** Devices of a judgement have more fields than these. */
const devices = z.array(
  z.object({
    rates,
    sustained: z.object({ precision, perSecond: amount }).nullable(),
    memory: z.object({ heldBytes: amount, perSecond: amount, status: z.enum(['proven', 'held']) }).nullable(),
    identity: z.object({
      status: z.enum(['identified', 'unknown', 'cpu', 'insecure']),
      cards: z.array(z.string()).optional(),
    }),
  }),
)
const totals = z.tuple([devices, z.int().min(0).max(1000).nullable()])
/** `scaling` in thousandths, as a judgement has it. */
export const requireDevices = (...given: unknown[]): void => requireForm(totals, given, 'devices')

const amounts = <const T extends readonly string[]>(names: T) => z.record(z.enum(names), amount)
/** Parts of one whole. */
const shares = <const T extends readonly string[]>(names: T) =>
  amounts(names).refine((parts) => isWhole(Object.values<number>(parts)))

export const isWhole = (parts: readonly number[]): boolean =>
  Math.abs(parts.reduce((sum, part) => sum + part, 0) - 1) <= 1e-9

const partOfOne = amount.max(1)

const config = z.strictObject({
  mode: z.enum(['proven', 'normalize']),
  weights: shares(['gpu', 'cpu', 'ram', 'disk']),
  gpu: shares(['rates', 'memory', 'bandwidth', 'scaling']),
  precisions: shares(PRECISION_NAMES),
  reference: z.strictObject({ rates: amounts(PRECISION_NAMES), memoryBytes: amount, bandwidth: amount }),
  limits: amounts(['cpuLookups', 'cpuWhetstoneMips', 'ramBytes', 'ramBandwidth', 'diskBytes', 'diskBandwidth']),
  unsustainedShare: partOfOne,
  tiers: z.strictObject({ A: partOfOne, B: partOfOne, C: partOfOne }),
  registrationBonus: amount,
  allocationBonus: amount,
  decay: z.strictObject({ freshMs: amount, halfLifeMs: amount.positive() }),
  normalize: z.strictObject({ scores: z.record(z.string(), amount), count: amount }),
}) satisfies z.ZodType<ScoreConfig>

export const requireScoreConfig = (given: unknown): void => requireForm(config, given, 'score configuration')
