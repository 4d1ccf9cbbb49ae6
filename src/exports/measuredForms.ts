import * as z from 'zod'
import { canonicalJson } from '../core/bytes/canonicalJson.ts'
import type { Catalogue } from '../core/identify/catalogue.ts'
import type { ClaimQuestion } from '../core/identify/judgeClaim.ts'
import { MAX_DEVICES, MAX_SIZE, TILE } from '../core/params/constants.ts'
import { PRECISION_NAMES } from '../core/params/precision.ts'
import { requireForm } from '../core/params/requireForm.ts'
import { requireCatalogue } from './requireCatalogue.ts'

const precision = z.enum(PRECISION_NAMES)
/** 0 is what was not measured (I3). */
const amount = z.number().min(0)
/** 1 is no loss, and noise shows a little more: beyond are percent and thousandths. */
const share = amount.max(2)
const sizeClass = z
  .int()
  .min(TILE)
  .max(MAX_SIZE)
  .refine((m) => Number.isInteger(Math.log2(m)))
const rates = z.partialRecord(precision, amount.optional()).optional()

/** Strict: a value under another name would be looked at by nobody. */
const measured = z.strictObject({
  kind: z.enum(['gpu', 'cpu']).optional(),
  rates,
  declined: z.array(precision).optional(),
  memoryBytes: amount.optional(),
  bandwidth: amount.optional(),
  memoriesRead: z.enum(['together', 'in turns']).optional(),
  bindRate: amount.optional(),
  classes: z.partialRecord(precision, sizeClass.optional()).optional(),
  sustainedShare: share.optional(),
  scaling: share.optional(),
})

const devices = <T extends z.ZodType>(device: T) => z.array(device).max(MAX_DEVICES)
const version = z.literal([1, 2])

const question = z.strictObject({
  claim: z.strictObject({
    count: z.int().min(1).max(MAX_DEVICES),
    card: z.string(),
    models: z.array(z.looseObject({ id: z.string() })).min(1),
  }),
  devices: devices(measured),
  catalogue: z.unknown(),
  rules: version,
})

export const requireMeasured = (given: unknown): void => requireForm(measured, given, 'measured')

/** Devices of a judgement have more fields than these, and one that is missing establishes nothing. */
const totals = z.tuple([
  devices(z.object({ rates, memoryBytes: amount.optional() })),
  version.optional(),
  z.boolean().optional(),
])

export const requireTotals = (...given: unknown[]): void => requireForm(totals, given, 'devices')

export function requireClaimQuestion(given: Pick<ClaimQuestion, 'claim' | 'catalogue'>): void {
  requireForm(question, given, 'question')
  requireCatalogue(given.catalogue)
  for (const model of given.claim.models) requireKnown(model, given.catalogue)
}

/** A claim is held against cards of the catalogue, and not against what somebody calls one. */
function requireKnown(model: Catalogue['models'][number], { models }: Catalogue): void {
  const known = models.find(({ id }) => id === model.id)
  if (known !== model && canonicalJson(known ?? null) !== canonicalJson(model))
    throw new RangeError(`question.claim.models: ${model.id} is not that of the catalogue`)
}
