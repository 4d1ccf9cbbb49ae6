import { z } from '@hono/zod-openapi'
import { CLAIM_ANSWERS } from '../../core/identify/claimReasons.ts'
import { OUTCOMES, STATUSES } from '../../core/schedule/boxState.ts'
import { HISTORY_NOTES } from '../../core/schedule/changesOf.ts'

const time = z.iso.datetime().openapi({ example: '2026-01-01T00:00:00.000Z' })
const outcome = z.enum(OUTCOMES)
const kind = z.enum(['full', 'light'])
const status = z.enum(STATUSES).openapi({
  description:
    '`verified`: genuine work, and as claimed where something is. `claim-unmet`: genuine work that does not show the claim.',
})
const claimAnswer = z.enum(CLAIM_ANSWERS)
const claimVerdict = claimAnswer.nullable().openapi({
  description: 'What the work says of the claim; null where nothing is claimed or no full run has judged it yet.',
})

export const boxId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, ".", "_" and "-" only')
  .openapi({ example: 'box-1' })
export const provider = z.string().regex(/^[\x21-\x7e]{1,64}$/, 'must be plain text without blanks')

const term = z.object({
  name: z.string(),
  points: z.number(),
  got: z.number(),
  full: z.number(),
  source: z.enum(['proven', 'measured', 'claimed']).optional(),
})
const counts = z.record(z.string(), z.int()).readonly()
const figure = z.object({ device: z.int(), name: z.string(), value: z.number() })
const mark = z.object({ what: z.enum(HISTORY_NOTES), before: z.string(), after: z.string() })

const boxFields = z.object({
  id: boxId,
  provider: z.string(),
  claim: z.string().nullable(),
  allocated: z.boolean(),
  addedAt: time,
  status,
  claimVerdict,
  score: z.int().openapi({ description: 'Points when they were earned.' }),
  scoreNow: z.int().openapi({ description: 'What they are worth at this moment: a proof ages.' }),
  terms: z.array(term).readonly(),
  scoredAt: time.nullable(),
  failuresInRow: z.int(),
  failuresTotal: z.int(),
  busyInRow: z.int(),
  missed: z.int().openapi({ description: 'Windows of its cohort missed since it last ran with all of those boxes.' }),
  stalls: z.int().openapi({ description: 'How often in a row it has kept the validator waiting for nothing.' }),
  verifiedTotal: z.int(),
  lastResult: z.int().nullable(),
})
export const boxSummarySchema = boxFields.openapi('BoxSummary')
export const boxSchema = boxFields
  .extend({
    inventory: z.unknown().openapi({ description: 'Claims of the box about itself. Nothing here is proven.' }),
  })
  .openapi('Box')

const resultFields = z.object({
  id: z.int(),
  round: z.int(),
  boxId: z.string(),
  provider: z.string(),
  kind,
  reason: z.enum(['round', 'probe', 'changed', 'asked']),
  outcome,
  code: z.string().nullable(),
  detail: z.unknown(),
  preset: z.string().nullable(),
  runId: z.string().nullable(),
  proverKey: z.string().nullable(),
  startedAt: time,
  seconds: z.number(),
  score: z.int(),
  figures: z.array(figure).readonly(),
  marks: z.array(mark).readonly(),
  claimVerdict,
  at: time,
})
export const resultSummarySchema = resultFields.openapi('ResultSummary')
export const resultSchema = resultFields.extend({ judgement: z.unknown(), inventory: z.unknown() }).openapi('Result')

export const roundSchema = z
  .object({
    number: z.int(),
    openedAt: time,
    height: z.int().nullable(),
    jobs: z.int(),
    done: z.int(),
    accepted: z.int(),
    rejected: z.int(),
  })
  .openapi('Round')

export const specSchema = z
  .object({
    boxId: z.string(),
    status,
    claim: z.string().nullable(),
    claimVerdict,
    score: z.int(),
    at: time.nullable(),
    runId: z.string().nullable(),
    result: z.int().nullable().openapi({ description: 'The result they are from; it has the judgement.' }),
    figures: z.array(figure).readonly(),
  })
  .openapi('ProviderSpec')

export const statisticsSchema = z
  .object({
    boxes: z.int(),
    byStatus: counts,
    byClaimVerdict: counts,
    providers: z.int(),
    results: z.int(),
    resultsLastHour: z.int(),
    rejectedByCode: counts,
    figures: z.array(z.object({ name: z.string(), boxes: z.int(), sum: z.number(), median: z.number() })).readonly(),
  })
  .openapi('Statistics')

export const statusSchema = z
  .object({
    program: z.string(),
    time,
    round: roundSchema.nullable(),
    queue: z.object({ waiting: z.int(), leased: z.int(), done: z.int(), lagSeconds: z.number() }),
    boxes: z.int(),
    byStatus: counts,
    byClaimVerdict: counts,
    resultsLastHour: z.int(),
  })
  .openapi('Status')

const orNull = (after: string | undefined): string | null => after ?? null

export const pageQuery = z.object({
  after: z
    .string()
    .regex(/^[\x21-\x7e]{0,128}$/)
    .optional()
    .openapi({ description: 'The `next` of the page before.' })
    .transform(orNull),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})
export const boxesQuery = pageQuery.extend({
  provider: provider.optional(),
  status: status.optional(),
  claimVerdict: claimAnswer.optional(),
})
/** Pages of results and rounds go by number. */
export const numberedQuery = pageQuery.extend({
  after: z
    .string()
    .regex(/^[0-9]{1,15}$/)
    .optional()
    .transform(orNull),
})

export const paged = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item).readonly(), next: z.string().nullable() })

/** What an operator says of a box, over the API or in the file of settings. */
export const statedBox = z.strictObject({
  address: z
    .string()
    .regex(
      /^((ssh|lease):\/\/[\x21-\x7e]{1,240}|local)$/,
      'must be ssh://user@host:port, lease://host:port#key, lease://hub#key or "local"',
    ),
  provider,
  claim: z
    .string()
    .regex(/^[\x20-\x7e]{1,120}$/, 'must be one line of plain text')
    .nullable()
    .default(null),
})

export const newBoxSchema = statedBox.extend({ allocated: z.boolean().default(false) }).openapi('NewBox')
export const allocationSchema = z.strictObject({ allocated: z.boolean() }).openapi('Allocation')
export const doneSchema = z.object({ done: z.boolean() }).openapi('Done')
