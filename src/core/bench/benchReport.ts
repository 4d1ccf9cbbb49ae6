import * as z from 'zod'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { count, instant, plain, shortText } from '../bytes/fields.ts'
import { MAX_DEVICES } from '../params/constants.ts'
import { PRECISION_NAMES } from '../params/precision.ts'

/** While it is 1, no field goes away or changes its meaning; fields and codes may be added. */
export const BENCH_FORMAT = 1

const figure = z.number().min(0)
const range = z.object({ low: figure, high: figure }).nullable()
const span = z.object({ low: z.number(), high: z.number() }).nullable()
const bothWays = z.object({ toCard: figure, toHost: figure })
const device = z.int().min(0).max(MAX_DEVICES)

const product = z.object({
  precision: z.enum(PRECISION_NAMES),
  size: count,
  k: count,
  provenOpsPerSec: figure,
  bareOpsPerSec: figure.nullable().meta({ description: 'null where nothing multiplies outside the proof' }),
  expected: range.meta({ description: 'what a proof shows on such a card; the bare product is never slower' }),
})

const memory = z.object({ bytes: count, bytesPerSec: figure, expected: range })

/** Bytes a second between host and card. */
const transfers = z.object({ pinned: bothWays, pageable: bothWays })

const watched = z.object({
  samples: count,
  smClockMhz: span,
  memoryClockMhz: span,
  temperatureC: span,
  powerWatts: span,
  powerLimitWatts: figure.nullable(),
  throttled: z
    .array(z.object({ reason: shortText, share: z.number().min(0).max(1) }))
    .max(16)
    .meta({ description: 'reasons for lower clocks, each with its share of the samples under load' }),
  xids: z.array(count).max(16).meta({ description: 'errors of the card that the driver reported' }),
  eccUncorrected: count.nullable(),
  processes: count.nullable(),
  pcieWidth: count.nullable(),
  pcieGeneration: count.nullable(),
})

const measuredDevice = z.object({
  device,
  name: shortText,
  class: z.enum(['cpu', 'gpu']),
  backEnd: shortText,
  uuid: shortText.nullable(),
  driver: shortText.nullable(),
  productLibrary: shortText.nullable(),
  memoryBytes: count,
  model: z.object({ id: shortText, name: shortText }).nullable().meta({ description: 'the card it is held against' }),
  products: z.array(product).max(PRECISION_NAMES.length),
  memory: memory.nullable(),
  transfers: transfers.nullable(),
  watched,
})

const link = z.object({
  from: device,
  to: device,
  bytesPerSec: figure.nullable(),
  why: shortText.nullable().meta({ description: 'the code of the fault where it could not be measured' }),
})

const finding = z.object({
  code: shortText,
  device: device.nullable(),
  figure: shortText.meta({ description: 'what it was found in' }),
  got: z.union([z.number(), shortText]),
  expected: z.union([z.number(), shortText]).nullable(),
  meaning: plain,
  nextStep: plain,
})

const change = z.object({ device: device.nullable(), figure: shortText, before: figure, now: figure })

/** What `touchstone bench --json` prints, and what it keeps of the last run. */
export const benchReportSchema = z.object({
  format: z.literal(BENCH_FORMAT),
  kind: z.literal('bench'),
  verdict: z.enum(['pass', 'fail', 'not-judged']),
  program: shortText,
  startedAt: instant,
  seconds: figure,
  devices: z.array(measuredDevice).min(1).max(MAX_DEVICES),
  links: z
    .array(link)
    .max(MAX_DEVICES ** 2)
    .meta({ description: 'card to card' }),
  problems: z.array(finding).max(1000),
  notes: z.array(finding).max(1000),
  against: z
    .object({
      startedAt: instant,
      changes: z.array(change).max(2000),
      tolerance: z
        .number()
        .min(0)
        .max(1)
        .exactOptional()
        .meta({ description: 'the share of a figure that two runs of one machine may differ by: less is noise' }),
    })
    .nullable()
    .meta({ description: 'the run it is compared with: the last one, or the one that --against names' }),
})

export type BenchReport = DeepReadonly<z.infer<typeof benchReportSchema>>
export type BenchDevice = BenchReport['devices'][number]
export type BenchLink = BenchReport['links'][number]
export type BenchFinding = BenchReport['problems'][number]
export type BenchChange = NonNullable<BenchReport['against']>['changes'][number]
export type Watched = BenchDevice['watched']

/** A device as it was measured, held against nothing yet. */
export type MeasuredDevice = Omit<BenchDevice, 'model' | 'products' | 'memory'> & {
  readonly products: readonly Omit<BenchDevice['products'][number], 'expected'>[]
  readonly memory: Omit<NonNullable<BenchDevice['memory']>, 'expected'> | null
  /** What its driver says of its state: ECC, MIG, lanes. */
  readonly state: Readonly<Record<string, string | number | boolean>>
}
