import * as z from 'zod'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { CLAIM_ANSWERS } from '../identify/claimReasons.ts'
import { scoreTerm } from '../score/scoreBox.ts'
import { JOB_KINDS, JOB_REASONS, OUTCOMES, STATUSES } from './boxState.ts'
import { historyNote } from './changesOf.ts'
import { namedFigure } from './namedFigures.ts'

/** What a validator remembers, field by field: the store holds these records, and the API shows most of their fields. */
export const time = z.iso.datetime().meta({ example: '2026-01-01T00:00:00.000Z' })
const text = z.string()
const figures = z.array(namedFigure).readonly()
const counts = z.record(z.string(), z.int()).readonly()

export const boxId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, ".", "_" and "-" only')
  .meta({ example: 'box-1' })
export const boxStatus = z.enum(STATUSES).meta({
  description:
    '`verified`: genuine work, and as claimed where something is. `claim-unmet`: genuine work that does not show the claim.',
})
export const claimAnswer = z.enum(CLAIM_ANSWERS)
const claimVerdict = claimAnswer.nullable().meta({
  description: 'What the work says of the claim; null where nothing is claimed or no full run has judged it yet.',
})

/** A box in a list: an inventory is as fat as its box likes, so it comes with the box alone. */
export const boxSummary = z.object({
  id: boxId,
  address: text,
  provider: text,
  claim: text.nullable(),
  /** The operator's or the market's word, never the box's. */
  allocated: z.boolean(),
  addedAt: time,
  status: boxStatus,
  claimVerdict,
  score: z.int().meta({ description: 'Points when they were earned.' }),
  terms: z.array(scoreTerm).readonly(),
  scoredAt: time.nullable(),
  since: z.int().nullable().meta({
    description:
      'The fleet round of the window that its score was earned in. In a fleet with windows, scores above 0 that count are of one round: pages that show two were read while a window ended.',
  }),
  failuresInRow: z.int(),
  failuresTotal: z.int(),
  busyInRow: z.int(),
  verifiedTotal: z.int(),
  /** How often address, claim or provider were changed. */
  moves: z.int(),
  missed: z.int().meta({ description: 'Windows in a row that it stood in and missed.' }),
  current: z.boolean().meta({
    description: 'Whether nobody has earned a score in a later window than it did: only then its own counts.',
  }),
  stalls: z.int().meta({ description: 'How often in a row it has kept the validator waiting for nothing.' }),
  lastResult: z.int().nullable(),
  last: z
    .object({ outcome: z.enum(OUTCOMES), code: text.nullable(), at: time })
    .nullable()
    .meta({ description: 'How its latest run ended, with the reason where it was not accepted.' }),
  models: z.array(text.nullable()).readonly().meta({
    description:
      'What its latest full run that proved its work, in a window or not, showed each device to be, of models that measure alike those that it is sold as, if they fit; null where it fits no known card, CPU where it is a processor.',
  }),
})
export type BoxSummary = DeepReadonly<z.infer<typeof boxSummary>>

/** Among the models of a box: a device that is no card. */
export const CPU_MODEL = 'CPU'

/** A result in a list: judgement and inventory come with the result alone. */
export const resultSummary = z.object({
  id: z.int(),
  round: z.int(),
  boxId: text,
  provider: text,
  kind: z.enum(JOB_KINDS),
  reason: z.enum(JOB_REASONS),
  outcome: z.enum(OUTCOMES),
  /** A reject code, a fault code, or null. */
  code: text.nullable(),
  detail: z.record(z.string(), z.unknown()).readonly().nullable(),
  preset: text.nullable(),
  runId: text.nullable(),
  proverKey: text.nullable(),
  startedAt: time,
  seconds: z.number(),
  score: z.int().nullable().meta({
    description:
      'What this run made of the points of its box; null where it left them as they were, and until its window is over.',
  }),
  figures,
  marks: z.array(historyNote).readonly(),
  claimVerdict,
  at: time,
})
export type ResultSummary = DeepReadonly<z.infer<typeof resultSummary>>

/** Latest proven facts of one box, for those who look up what a provider has. */
export const providerSpec = z.object({
  ...boxSummary.pick({ status: true, claim: true, claimVerdict: true, score: true, since: true, current: true }).shape,
  ...resultSummary.pick({ boxId: true, runId: true }).shape,
  figures: figures.meta({ description: 'Of the run that earned the score. One that has fallen since leaves them.' }),
  at: time.nullable(),
  result: z.int().nullable().meta({ description: 'The result they are from; it has the judgement.' }),
})
export type ProviderSpec = DeepReadonly<z.infer<typeof providerSpec>>

export const fleetRound = z.object({
  number: z.int(),
  openedAt: time,
  height: z.int().nullable(),
  /** Nothing that was earned in its window waits for the end of it. */
  settled: z.boolean(),
  jobs: z.int(),
  done: z.int(),
  accepted: z.int(),
  rejected: z.int(),
})
export type FleetRound = DeepReadonly<z.infer<typeof fleetRound>>

/** What is cheap to count. */
export const fleetOverview = z.object({
  boxes: z.int(),
  byStatus: counts.meta({ description: 'Boxes, not cards: two boxes on one card are two.' }),
  byClaimVerdict: counts.meta({ description: 'Boxes, not cards, whose claim was judged.' }),
  resultsLastHour: z.int(),
})
export type FleetOverview = DeepReadonly<z.infer<typeof fleetOverview>>

export const fleetStatistics = fleetOverview.extend({
  providers: z.int(),
  results: z.int(),
  rejectedByCode: counts,
  figures: z
    .array(z.object({ name: text, boxes: z.int(), sum: z.number(), median: z.number() }))
    .readonly()
    .meta({
      description:
        'Sum and median of each figure over the boxes whose scores count, as the window showed it that they were earned in: a score that has fallen since leaves them.',
    }),
})
export type FleetStatistics = DeepReadonly<z.infer<typeof fleetStatistics>>

export const queueState = z.object({
  waiting: z.int(),
  held: z.int(),
  done: z.int(),
  /** Seconds the longest-waiting due job has been due; 0 when none is. */
  lagSeconds: z.number(),
})
export type QueueState = DeepReadonly<z.infer<typeof queueState>>
