import { z } from '@hono/zod-openapi'
import { roundRecord, scoreProof } from '../../core/ledger/roundRecord.ts'
import {
  boxStatus,
  boxSummary,
  claimAnswer,
  fleetOverview,
  fleetRound,
  fleetStatistics,
  providerSpec,
  queueState,
  resultSummary,
  time,
} from '../../core/schedule/fleetRecords.ts'
import { problemSchema } from './problem.ts'

export const provider = z.string().regex(/^[\x21-\x7e]{1,64}$/, 'must be plain text without blanks')

const shownBox = boxSummary.omit({ address: true, moves: true }).extend({
  scoreNow: z.int().meta({
    description:
      'What they are worth at this moment: a proof ages, and counts no longer when others have earned in a later window.',
  }),
})
export const boxSummarySchema = z.object(shownBox.shape).openapi('BoxSummary')
export const boxSchema = shownBox
  .extend({ inventory: z.unknown().meta({ description: 'Claims of the box about itself. Nothing here is proven.' }) })
  .openapi('Box')

export const resultSummarySchema = z.object(resultSummary.shape).openapi('ResultSummary')
export const resultSchema = resultSummary.extend({ judgement: z.unknown(), inventory: z.unknown() }).openapi('Result')
export const roundSchema = z.object(fleetRound.shape).openapi('Round')
export const specSchema = z.object(providerSpec.shape).openapi('ProviderSpec')
export const statisticsSchema = z.object(fleetStatistics.shape).openapi('Statistics')
export const statusSchema = fleetOverview
  .extend({ program: z.string(), time, round: roundSchema.nullable(), queue: queueState })
  .openapi('Status')

export const scoreProofSchema = z.object(scoreProof.shape).openapi('ScoreProof')
export const keptRoundSchema = z
  .object({
    record: z.object(roundRecord.shape).openapi('RoundRecord'),
    state: z.enum(['waiting', 'published', 'refused']),
    said: z.string().nullable().meta({ description: 'Where it is published, or what the ledger last said.' }),
  })
  .openapi('KeptRound')

const orNull = (after: string | undefined): string | null => after ?? null

export const pageQuery = z.object({
  after: z
    .string()
    .regex(/^[\x21-\x7e]{0,128}$/)
    .optional()
    .openapi({ description: 'The `next` of the page before.' })
    .transform(orNull),
  limit: z.coerce.number<number | string>().int().min(1).max(200).default(50),
})
export const boxesQuery = pageQuery.extend({
  provider: provider.optional(),
  status: boxStatus.optional(),
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
  // Whether it is one is for whoever opens boxes to say.
  address: z
    .string()
    .regex(/^[\x20-\x7e]{1,248}$/, 'must be one line of plain text')
    .meta({
      description: 'root@203.0.113.7, host:2222, ssh://user@host:port, lease://host:port#key, lease://hub#key or local',
    }),
  provider,
  claim: z
    .string()
    .regex(/^[\x20-\x7e]{1,120}$/, 'must be one line of plain text')
    .nullable()
    .default(null),
})

export const newBoxSchema = statedBox
  .extend({ allocated: z.boolean().nullable().default(null).meta({ description: 'null: as it was, or free' }) })
  .openapi('NewBox')
export const allocationSchema = z.strictObject({ allocated: z.boolean() }).openapi('Allocation')
export const doneSchema = z.object({ done: z.boolean() }).openapi('Done')
export const askedSchema = doneSchema
  .extend({
    why: problemSchema.shape.error.nullable().meta({ description: 'Why no run was added; null where one was.' }),
  })
  .openapi('Asked')
export const backupSchema = z.object({ file: z.string(), rows: z.int() }).openapi('Backup')
export const healthSchema = z.object({ ok: z.boolean(), program: z.string(), store: z.string() }).openapi('Health')
