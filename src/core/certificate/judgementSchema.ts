import * as z from 'zod'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { count, hex, plain } from '../bytes/fields.ts'
import { CLAIM_ANSWERS, findingSchema } from '../identify/claimReasons.ts'
import { MAX_DEVICES } from '../params/constants.ts'
import { reasonSchema } from '../proof/reasons.ts'
import { precision } from './fields.ts'

/** Rates between two arrivals are for drawing, and a microsecond makes them larger than a count can be. */
const drawn = z.number().min(0)
const percent = z.int().min(0).max(100)
const perPrecision = z.partialRecord(precision, count)

const memory = z.strictObject({
  heldBytes: count,
  perSecond: count,
  floorBytes: count.nullable(),
  status: z.enum(['proven', 'held']),
})

const ids = z.array(plain).max(8)

/** What differs between the versions is handed in. */
const judgementWith = <P extends z.ZodRawShape, A extends z.ZodRawShape, R extends z.ZodType>(
  peakShare: P,
  alike: A,
  found: R,
) => {
  const identity = z.strictObject({
    status: z.enum(['identified', 'unknown', 'cpu', 'insecure']),
    model: plain.nullable(),
    confidencePercent: percent,
    ...alike,
    closest: z.array(z.strictObject({ model: plain, confidencePercent: percent })).max(8),
  })
  const sustained = z.strictObject({
    precision,
    perSecond: count,
    medianPerSecond: drawn,
    // 5th percentile.
    lowPerSecond: drawn,
    leastPerSecond: drawn,
    // Last third against first third, in thousandths.
    lastShare: drawn,
    ...peakShare,
    // Gaps longer than one and a half of the median.
    dips: count,
    points: z.array(drawn).min(1).max(60),
  })
  const device = z.strictObject({
    device: count.max(MAX_DEVICES - 1),
    rates: perPrecision,
    classes: perPrecision,
    sustained: sustained.nullable(),
    memory: memory.nullable(),
    bindPerSecond: count.nullable(),
    bindShare: count.nullable(),
    alonePerSecond: count.nullable(),
    linkPerSecond: count.nullable(),
    identity,
  })
  return z
    .strictObject({
      outcome: z.enum(['accepted', 'rejected']),
      reason: reasonSchema.nullable(),
      catalogue: hex(32),
      devices: z.array(device).max(MAX_DEVICES),
      count: z.strictObject({
        claimed: count.max(MAX_DEVICES),
        least: count,
        established: z.boolean(),
        sentence: plain,
      }),
      scaling: count.max(1000).nullable(),
      claim: z
        .strictObject({ text: plain, verdict: z.enum(CLAIM_ANSWERS), reasons: z.array(found).max(512) })
        .nullable(),
    })
    .refine(({ outcome, reason }) => (outcome === 'rejected') === (reason !== null))
}

/** C7: every field there is and nothing else, as strict as the program that recomputes it. */
export const judgementSchema = judgementWith({ peakShare: drawn }, { cards: ids }, findingSchema)
/** Version 1 held sentences, knew no share of the peak, and named a card by the id of the likeliest of its twins. */
export const judgementVersion1 = judgementWith({}, { twins: ids }, plain)

type Either = typeof judgementWith<
  { peakShare: z.ZodExactOptional<typeof drawn> },
  { cards: z.ZodExactOptional<typeof ids>; twins: z.ZodExactOptional<typeof ids> },
  z.ZodUnion<[typeof findingSchema, typeof plain]>
>

/** A judgement of either version as a file states it: its signer's word until it was recomputed. */
export type StatedJudgement = DeepReadonly<z.infer<ReturnType<Either>>>

type StatedIdentity = StatedJudgement['devices'][number]['identity']

/** The ids of the cards that it may be, the likeliest first; empty where none was identified. */
export const cardsOf = ({ cards, model, twins = [] }: StatedIdentity): readonly string[] =>
  cards ?? (model === null ? [] : [model, ...twins])
