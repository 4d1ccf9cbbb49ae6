import * as z from 'zod'
import { ascii } from '../bytes/bytes.ts'
import { canonicalJson } from '../bytes/canonicalJson.ts'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { toHex } from '../bytes/hex.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'

/** What a value must be is told the same way, whatever else it is. */
const positive = (most: number) => {
  const error = `must be a number above 0 and at most ${most}`
  return z.number({ error }).positive({ error }).max(most, { error })
}

const spelled = (form: RegExp, error: string) => z.string({ error }).regex(form, { error })

const oneOf = <const T extends readonly string[]>(names: T) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` })

const text = spelled(/^[\x20-\x7e]{1,200}$/, 'must be 1 to 200 printable ASCII characters')
const id = spelled(/^[a-z0-9][a-z0-9.-]{0,63}$/, 'must be lower-case letters, digits, dots and dashes')

/** The share of a published figure that a proof shows. */
const fraction = z.strictObject({ low: positive(2), high: positive(2) })

const source = z.strictObject({
  title: text,
  year: positive(2100),
  /** Address of the page; a datasheet may be named by title and year alone. */
  address: text.exactOptional(),
})

/** One published number: operations (2 per multiply-add, dense) or bytes per second. */
const figure = z.strictObject({
  value: positive(1e18),
  /** What the vendor prints, or what somebody ran and published. */
  basis: oneOf(['datasheet', 'measured']),
  source: id,
  /** Reached by something other than a plain copy: the card is at least that fast. */
  atLeast: z.literal(true, { error: 'may only be true' }).exactOptional(),
})

const figures = z.array(figure).max(16)

const rates = Object.fromEntries(PRECISION_NAMES.map((name) => [name, figures.exactOptional()])) as Record<
  Precision,
  z.ZodExactOptional<typeof figures>
>

export const modelSchema = z.strictObject({
  id,
  name: text,
  vendor: text,
  chip: text,
  /** Consumer cards run above the clock of their datasheet, professional ones are held below it by their power limit. */
  line: oneOf(['consumer', 'professional']),
  aliases: z.array(text).max(32),
  /** The fastest way host and card can be joined, for the floor of §7. */
  hostLink: oneOf(['pcie', 'nvlink', 'pcie6', 'c2c']),
  /** Whether cards of this model can be joined by NVLink, which §1 cannot tell from one card. */
  nvlink: z.boolean({ error: 'must be true or false' }),
  memoryBytes: positive(2 ** 50),
  memorySource: id,
  /** What CUDA reports of it in all, where that is known: ECC and the driver keep some (attack 478). */
  reported: z.strictObject({ bytes: positive(2 ** 50), source: id }).exactOptional(),
  bandwidth: figures,
  rates: z.strictObject(rates),
  /** Models of the same chip that a measurement with 10 % noise cannot tell from this one. */
  twins: z.array(id).max(3),
})

/** The catalogue as it was parsed, defaults and all: what `catalogueHash` is the hash of, and what certificates carry. */
export const catalogueSchema = z.strictObject({
  version: z.literal(1, { error: 'must be 1' }),
  rules: z.strictObject({
    rate: z.strictObject({ datasheetConsumer: fraction, datasheetProfessional: fraction, measured: fraction }),
    fp32: z.strictObject({ datasheet: fraction, measured: fraction }),
    bandwidth: z.strictObject({ datasheet: fraction, measured: fraction }),
  }),
  sources: z.record(id, source),
  models: z.array(modelSchema).min(1).max(1000),
})

export type Catalogue = DeepReadonly<z.infer<typeof catalogueSchema>>
export type CatalogueRules = Catalogue['rules']
export type GpuModel = Catalogue['models'][number]
export type PublishedFigure = GpuModel['bandwidth'][number]
export type Basis = PublishedFigure['basis']

type Contradictions = Generator<readonly [where: string, problem: string]>

/** What is wrong with a catalogue of which each field by itself is right. */
export function* contradictionsIn({ rules, sources, models }: Catalogue): Contradictions {
  for (const [group, fractions] of Object.entries(rules))
    for (const [name, { low, high }] of Object.entries(fractions))
      if (low >= high) yield [`rules.${group}.${name}`, 'must have low below high']
  for (const [key, { address }] of Object.entries(sources))
    if (address !== undefined && !/^(https:\/\/|docs\/)/.test(address))
      yield [`sources.${key}.address`, 'must start with https:// or docs/']
  const byId = new Map<string, GpuModel>()
  for (const model of models) {
    if (byId.has(model.id)) yield [`model ${model.id}, field id`, 'appears twice']
    byId.set(model.id, model)
  }
  for (const model of models)
    for (const [field, problem] of [...wrongFigures(model, sources), ...wrongTwins(model, byId)])
      yield [`model ${model.id}${field && `, field ${field}`}`, problem]
}

function* wrongFigures(model: GpuModel, sources: Catalogue['sources']): Contradictions {
  const { memoryBytes, memorySource, reported, bandwidth, rates } = model
  if (reported && reported.bytes > memoryBytes) yield ['reported.bytes', 'must be at most the bytes of memory']
  const named = [
    ['memory.source', memorySource],
    ...(reported ? [['reported.source', reported.source] as const] : []),
    ...bandwidth.map(({ source }, i) => [`bandwidth[${i}].source`, source] as const),
    ...Object.entries(rates).flatMap(([name, all]) =>
      all.map(({ source }, i) => [`rates.${name}[${i}].source`, source] as const),
    ),
  ] as const
  for (const [field, key] of named)
    if (!Object.hasOwn(sources, key)) yield [field, `names the source ${key}, which is not listed under sources`]
  if (Object.keys(rates).length === 0) yield ['rates', 'must hold at least one precision']
  // What a vendor prints is not what a card does: something of every model was run and published.
  if (![...bandwidth, ...Object.values(rates).flat()].some(({ basis }) => basis === 'measured'))
    yield ['', 'has no measured figure; at least one must be']
}

/** Twins are stated on both sides and share a chip: a pair that only looks alike would hide a swap. */
function* wrongTwins({ id, chip, twins }: GpuModel, byId: ReadonlyMap<string, GpuModel>): Contradictions {
  for (const other of twins) {
    const twin = byId.get(other)
    if (twin === undefined) yield ['twins', `names ${other}, which is not in the catalogue`]
    else if (other === id) yield ['twins', 'names the model itself']
    else if (twin.chip !== chip) yield ['twins', `names ${other}, which has another chip`]
    else if (!twin.twins.includes(id)) yield ['twins', `names ${other}, which does not name it back`]
  }
}

/**
 * Hex SHA-256 of the parsed catalogue, for certificates: keys sorted, no spaces, numbers as JSON prints them, so that
 * comments and layout of the file do not count and every value does. Every text in it is printable ASCII.
 */
export function catalogueHash(catalogue: Catalogue): string {
  const known = hashes.get(catalogue)
  if (known !== undefined) return known
  const hash = toHex(taggedHash('tsp1/catalogue', ascii(canonicalJson(catalogue))))
  hashes.set(catalogue, hash)
  return hash
}

/** A parsed catalogue never changes, and hashing it costs more than judging a run. */
const hashes = new WeakMap<Catalogue, string>()
