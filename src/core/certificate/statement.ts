import * as z from 'zod'
import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { concatBytes } from '../bytes/bytes.ts'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { base64, count, hex, instant, plain, plainText, shortText } from '../bytes/fields.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { catalogueSchema } from '../identify/catalogue.ts'
import { inventoryOfVersion1, inventorySchema, inventoryVersion1 } from '../inventory/inventory.ts'
import { MAX_DEVICES, MAX_PARTS, type ProtocolVersion } from '../params/constants.ts'
import { figureSchema, figureVersion1 } from '../proof/figures.ts'
import type { PartEvidence } from '../proof/verifyPart.ts'
import { toInstant, toMillis } from '../units/instants.ts'
import { presetName, proverSubject } from './fields.ts'
import { judgementSchema, judgementVersion1, type StatedJudgement } from './judgementSchema.ts'

/** From issue to `notAfter`, of a certificate as of a receipt. */
export const LONGEST_VALID_MS = 366 * 24 * 3600 * 1000

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
/** Evidence is known by its predicate type; the number is the version of the challenge inside. */
export const PREDICATE_TYPES = {
  1: 'urn:touchstone:proof-of-gpu:1',
  2: 'urn:touchstone:proof-of-gpu:2',
} as const satisfies Record<ProtocolVersion, string>

const device = z.strictObject({
  device: count.max(MAX_DEVICES - 1),
  roots: base64,
  arrivalsUs: z.array(count),
  openings: base64,
})

const part = z.strictObject({
  s: hex(32),
  z: hex(32).nullable(),
  zSentUs: count.nullable(),
  nonce: hex(32),
  devices: z.array(device).min(1).max(MAX_DEVICES),
})

/** What a person will read of a judgement is plain and short, whoever signed it (attack 12). */
const isPlain = (value: unknown): boolean => {
  if (typeof value === 'string') return plain.safeParse(value).success
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isPlain(key) && isPlain(inner))
}

const plainJson: z.ZodType<unknown> = z.json().refine(isPlain)

/** What the prover said when a device failed. */
const fault = z.strictObject({
  code: z.string().regex(/^[A-Z][A-Z0-9_]{0,39}$/),
  text: plainText(512),
})

const predicateWith = <I extends z.ZodType, M extends z.ZodRawShape>(inventory: I, more: M) =>
  z.strictObject({
    program: shortText,
    issuedAt: z.iso.datetime(),
    preset: presetName,
    challenge: base64,
    ready: base64,
    parts: z.array(part).max(MAX_PARTS),
    result: z.strictObject({ prover: base64, validator: base64 }).nullable(),
    claims: z.strictObject({
      inventory,
      text: shortText.nullable(),
      telemetry: z.array(plainJson).max(512),
      faults: z.array(fault).min(1).max(MAX_DEVICES).exactOptional(),
    }),
    figures: z.array(figureSchema),
    ...more,
  })

/** §10: where a chain was at hand, S_p = SHA-256("tsp1/s" || block || random), one entry per part. */
const anchor = z.strictObject({
  chain: shortText,
  parts: z
    .array(z.strictObject({ height: count, block: hex(32), random: hex(32) }))
    .min(1)
    .max(MAX_PARTS),
})

/** §9: what the devices' own vendor signed, before and after the run, in the order of the devices. */
const attestation = z.strictObject({
  format: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/),
  open: z.array(base64).min(1).max(MAX_DEVICES),
  close: z.array(base64).min(1).max(MAX_DEVICES),
})

/**
 * C3, the rule of minor versions: a later program adds fields here alone. A name with `x-` may be ignored by whoever does
 * not know it, since it changes the meaning of nothing else; one with `must-` may not, and is refused (UNKNOWN_EXTENSION).
 */
const extensions = z
  .record(z.string().regex(/^(x|must)-[a-z0-9-]{1,40}$/), plainJson)
  .refine((given) => Object.keys(given).length <= 16)
  .meta({ maxProperties: 16 })

/** C3: where the signer says that it found the box. Shown as a claim, and counted nowhere. */
export const PLACE = 'x-address'

/** What the signer says of where the box was; null where it says nothing that is one plain word. */
export function placeOf({ extensions }: { readonly extensions?: Readonly<Record<string, unknown>> }): string | null {
  const told = extensions?.[PLACE]
  return typeof told === 'string' && /^[\x21-\x7e]{1,300}$/.test(told) ? told : null
}

/** C3: which devices the signer asked the box for, where it did not ask for all. Its word, and counted nowhere. */
export const ASKED_DEVICES = 'x-devices'

/** What the signer says of which devices it asked for; null where it asked for all, or says nothing that reads as a list. */
export function askedDevicesOf({
  extensions,
}: {
  readonly extensions?: Readonly<Record<string, unknown>>
}): string | null {
  const told = extensions?.[ASKED_DEVICES]
  return typeof told === 'string' && /^[a-z0-9:,]{1,300}$/.test(told) ? told : null
}

/** What certificates carry since version 2. Evidence of other kinds that belongs to the run has its place here too. */
const ofVersion2 = {
  judgement: judgementSchema,
  /** The shortest round trip the signer measured before the run; its word, as the times are. */
  roundTripUs: count,
  issuedAt: instant,
  startedAt: instant,
  notAfter: instant,
  catalogue: catalogueSchema,
  anchor: anchor.exactOptional(),
  attestation: attestation.exactOptional(),
  extensions: extensions.exactOptional(),
}

const statementWith = <T extends string, P extends z.ZodType>(type: T, predicate: P) =>
  z.strictObject({
    _type: z.literal(STATEMENT_TYPE),
    subject: z.tuple([
      z.strictObject({ name: z.string().regex(/^run [0-9a-f]{32}$/), digest: z.strictObject({ sha256: hex(32) }) }),
      proverSubject,
    ]),
    predicateType: z.literal(type),
    predicate,
  })

/** The in-toto statement inside a certificate; docs/spec/certificate.md describes every field. */
export const statementSchema = statementWith(PREDICATE_TYPES[2], predicateWith(inventorySchema, ofVersion2))
export const statementVersion1 = statementWith(
  PREDICATE_TYPES[1],
  predicateWith(inventoryVersion1, { judgement: judgementVersion1, figures: z.array(figureVersion1) }),
)

type Issued = DeepReadonly<z.infer<typeof statementSchema>>
type NotInVersion1 = 'startedAt' | 'catalogue'

/** A statement as its reader sees it: null is what version 1 did not say. */
export type Statement = Omit<Issued, 'predicate'> & {
  readonly predicate: Omit<Issued['predicate'], NotInVersion1 | 'judgement'> & {
    readonly [K in NotInVersion1]: Issued['predicate'][K] | null
  } & { readonly judgement: StatedJudgement }
}

/** The fields that a statement of version 1 has, in the names of today. */
export const statementOfVersion1 = ({ predicate, ...rest }: z.infer<typeof statementVersion1>): Statement => ({
  ...rest,
  predicateType: PREDICATE_TYPES[2],
  predicate: {
    ...predicate,
    claims: { ...predicate.claims, inventory: inventoryOfVersion1(predicate.claims.inventory) },
    // It did not say, and nothing was asked by it.
    roundTripUs: 0,
    startedAt: null,
    // It named no end, and speaks for no longer than any other may (attack 474).
    notAfter: toInstant(toMillis(predicate.issuedAt) + LONGEST_VALID_MS),
    catalogue: null,
  },
})

type StatedPart = DeepReadonly<z.infer<typeof part>>

export function statePart(evidence: PartEvidence): StatedPart {
  return {
    s: toHex(evidence.s),
    z: evidence.z ? toHex(evidence.z) : null,
    zSentUs: evidence.zSentUs,
    nonce: toHex(evidence.nonce),
    devices: evidence.devices.map(({ device, roots, arrivalsUs, openings }) => ({
      device,
      roots: toBase64(concatBytes(...roots)),
      arrivalsUs: [...arrivalsUs],
      openings: toBase64(openings),
    })),
  }
}

/** Null when a field is not spelled the one way it can be. */
export function readPart(stated: StatedPart): PartEvidence | null {
  const devices = stated.devices.map(({ device, roots, arrivalsUs, openings }) => {
    const rootBytes = fromBase64(roots)
    const openingBytes = fromBase64(openings)
    if (!rootBytes || rootBytes.length % 32 !== 0 || !openingBytes) return null
    const list = Array.from({ length: rootBytes.length / 32 }, (_, i) => rootBytes.subarray(32 * i, 32 * i + 32))
    return { device, roots: list, arrivalsUs, openings: openingBytes }
  })
  if (devices.some((entry) => entry === null)) return null
  return {
    s: fromHex(stated.s, 32)!,
    z: stated.z === null ? null : fromHex(stated.z, 32),
    zSentUs: stated.zSentUs,
    nonce: fromHex(stated.nonce, 32)!,
    devices: devices.filter((entry) => entry !== null),
  }
}
