import { z } from 'zod'
import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { concatBytes } from '../bytes/bytes.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { CLAIM_CODES, type ClaimAnswer, type ClaimCode } from '../identify/claimReasons.ts'
import { CLAIM_ANSWERS } from '../identify/judgeClaim.ts'
import { MAX_DEVICES, MAX_PARTS, type ProtocolVersion } from '../params/constants.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { PresetName } from '../params/presets.ts'
import { PART_KINDS } from '../proof/challenge.ts'
import type { PartEvidence } from '../proof/evidence.ts'
import { REASONS, type RejectCode } from '../proof/reasons.ts'
import { inventoryOfVersion1, inventorySchema, inventoryVersion1, shortText } from '../wire/inventory.ts'

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
/** Evidence is known by its predicate type; the number is the version of the challenge inside. */
export const PREDICATE_TYPES = {
  1: 'urn:touchstone:proof-of-gpu:1',
  2: 'urn:touchstone:proof-of-gpu:2',
} as const satisfies Record<ProtocolVersion, string>

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)
const count = z.int().min(0)

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

const figure = z.strictObject({
  part: count,
  kind: z.enum(PART_KINDS),
  precision: z.enum(PRECISION_NAMES as [Precision, ...Precision[]]),
  device: count,
  elapsedUs: count,
  perSecond: count,
  heldBytes: count,
})

/** What a person will read of a judgement is plain and short, whoever signed it (attack 12). */
const isPlain = (value: unknown): boolean => {
  if (typeof value === 'string') return value.length <= 1000 && /^[\x20-\x7e]*$/.test(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isPlain(key) && isPlain(inner))
}

const fact = z.union([z.number(), z.string().max(200)])

const reason = z.strictObject({
  code: z.enum(Object.keys(REASONS) as [RejectCode, ...RejectCode[]]),
  part: count.optional(),
  device: count.optional(),
  opening: count.optional(),
  expected: fact.optional(),
  got: fact.optional(),
})

/** What is taken as stated where another catalogue judged (C7) has its form at least: a reader relies on it. */
const identity = z.strictObject({
  status: z.string(),
  model: z.string().nullable(),
  confidencePercent: z.number(),
  twins: z.array(z.string()),
  closest: z.array(z.strictObject({ model: z.string(), confidencePercent: z.number() })),
})
const memory = z.looseObject({ floorBytes: z.number().nullable(), status: z.enum(['proven', 'held']) })
const cardCount = z.strictObject({
  claimed: z.number(),
  least: z.number(),
  established: z.boolean(),
  sentence: z.string(),
})
const claimFinding = z.strictObject({
  code: z.enum(Object.keys(CLAIM_CODES) as [ClaimCode, ...ClaimCode[]]),
  verdict: z.enum(CLAIM_ANSWERS as [ClaimAnswer, ...ClaimAnswer[]]),
  device: count.nullable(),
  got: fact,
  expected: fact,
  precision: z.enum(PRECISION_NAMES as [Precision, ...Precision[]]).optional(),
  model: z.string().optional(),
  beside: count.optional(),
  restsOn: z.array(z.string()).optional(),
  ruledOut: z.string().optional(),
})

/** Version 1 has sentences where there are findings now. */
const judgementWith = <F extends z.ZodType>(finding: F) =>
  z
    .looseObject({
      outcome: z.enum(['accepted', 'rejected']),
      reason: reason.nullable(),
      catalogue: hex(32),
      devices: z.array(z.looseObject({ device: count, identity, memory: memory.nullable() })),
      count: cardCount,
      claim: z.strictObject({ text: z.string(), verdict: z.string(), reasons: z.array(finding) }).nullable(),
    })
    .refine(isPlain)
    .refine(({ outcome, reason }) => (outcome === 'rejected') === (reason !== null))

/** What the prover said when a device failed. */
const fault = z.strictObject({
  code: z.string().regex(/^[A-Z][A-Z0-9_]{0,39}$/),
  text: z
    .string()
    .max(512)
    .regex(/^[\x20-\x7e]*$/),
})

const predicateWith = <I extends z.ZodType, M extends z.ZodRawShape>(inventory: I, more: M) =>
  z.strictObject({
    program: shortText,
    issuedAt: z.iso.datetime(),
    preset: z.enum(['tiny', 'devnet', 'mainnet', 'custom'] satisfies [PresetName, ...PresetName[]]),
    challenge: base64,
    ready: base64,
    parts: z.array(part).max(MAX_PARTS),
    result: z.strictObject({ prover: base64, validator: base64 }).nullable(),
    claims: z.strictObject({
      inventory,
      text: shortText.nullable(),
      telemetry: z.array(z.json().refine(isPlain)).max(512),
      faults: z.array(fault).min(1).max(MAX_DEVICES).optional(),
    }),
    figures: z.array(figure),
    ...more,
  })

const ofVersion1 = { judgement: judgementWith(z.string()) }
/** The shortest round trip the signer measured before the run; its word, as the times are. */
const ofVersion2 = { judgement: judgementWith(claimFinding), roundTripUs: count }

const statementWith = <T extends string, P extends z.ZodType>(type: T, predicate: P) =>
  z.strictObject({
    _type: z.literal(STATEMENT_TYPE),
    subject: z.tuple([
      z.strictObject({ name: z.string().regex(/^run [0-9a-f]{32}$/), digest: z.strictObject({ sha256: hex(32) }) }),
      z.strictObject({ name: z.literal('prover'), digest: z.strictObject({ ed25519: hex(32) }) }),
    ]),
    predicateType: z.literal(type),
    predicate,
  })

/** The in-toto statement inside a certificate; docs/spec/certificate.md describes every field. */
export const statementSchema = statementWith(PREDICATE_TYPES[2], predicateWith(inventorySchema, ofVersion2))
export const statementVersion1 = statementWith(PREDICATE_TYPES[1], predicateWith(inventoryVersion1, ofVersion1))

/** A statement of version 1 as its reader sees it: the fields it has, in the names of today. */
export const statementOfVersion1 = ({ predicate, ...rest }: z.infer<typeof statementVersion1>): Statement => ({
  ...rest,
  predicateType: PREDICATE_TYPES[2],
  predicate: {
    ...predicate,
    claims: { ...predicate.claims, inventory: inventoryOfVersion1(predicate.claims.inventory) },
    // The sentences of a claim stay sentences: they are compared with sentences, and shown as they are.
    judgement: predicate.judgement as unknown as Statement['predicate']['judgement'],
    // It did not say, and nothing was asked by it.
    roundTripUs: 0,
  },
})

export type Statement = z.infer<typeof statementSchema>
type StatedPart = z.infer<typeof part>

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
