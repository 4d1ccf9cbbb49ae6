import * as z from 'zod'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import { catalogueHash } from '../identify/catalogueHash.ts'
import { parseCatalogue } from '../identify/parseCatalogue.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'

const positive = (most: number) => z.number().positive().max(most)
const text = z.string().regex(/^[\x20-\x7e]{1,200}$/)
const id = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,63}$/)
const fraction = z.strictObject({ low: positive(2), high: positive(2) })
const figures = z
  .array(
    z.strictObject({
      value: positive(1e18),
      basis: z.enum(['datasheet', 'measured']),
      source: id,
      atLeast: z.literal(true).exactOptional(),
    }),
  )
  .max(16)

const rates = Object.fromEntries(PRECISION_NAMES.map((name) => [name, figures.exactOptional()])) as Record<
  Precision,
  z.ZodExactOptional<typeof figures>
>

const model = z.strictObject({
  id,
  name: text,
  vendor: text,
  chip: text,
  line: z.enum(['consumer', 'professional']),
  aliases: z.array(text).max(32),
  hostLink: z.enum(['pcie', 'c2c']),
  nvlink: z.boolean(),
  memoryBytes: positive(2 ** 50),
  memorySource: id,
  bandwidth: figures,
  rates: z.strictObject(rates),
  twins: z.array(id).max(3),
})

/** The catalogue as it was parsed, defaults and all: what `catalogueHash` is the hash of. */
export const catalogueSchema = z.strictObject({
  version: z.literal(1),
  rules: z.strictObject({
    rate: z.strictObject({ datasheetConsumer: fraction, datasheetProfessional: fraction, measured: fraction }),
    fp32: z.strictObject({ datasheet: fraction, measured: fraction }),
    bandwidth: z.strictObject({ datasheet: fraction, measured: fraction }),
  }),
  sources: z.record(id, z.strictObject({ title: text, year: positive(2100), address: text.exactOptional() })),
  models: z.array(model).min(1).max(1000),
})

/** C7: the catalogue the signer judged by travels in the file, so that no later edit of ours takes it away. */
export function readCarried(carried: DeepReadonly<z.infer<typeof catalogueSchema>>, hash: string): Catalogue | null {
  const models = carried.models.map(({ memoryBytes, memorySource, ...rest }) => ({
    ...rest,
    memory: { bytes: memoryBytes, source: memorySource },
  }))
  try {
    const catalogue = parseCatalogue({ ...carried, models })
    return catalogueHash(catalogue) === hash ? catalogue : null
  } catch {
    return null
  }
}
