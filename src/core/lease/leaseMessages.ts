import * as z from 'zod'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import { decodeJson } from '../bytes/decodeJson.ts'
import { checkSignature, KEY_BYTES, SIGNATURE_BYTES, type Signer } from '../bytes/ed25519.ts'
import { base64, hex, shortText } from '../bytes/fields.ts'
import { toHex } from '../bytes/hex.ts'
import { ByteReader, DecodeError } from '../bytes/reader.ts'
import { MAX_RENT_SECONDS } from './leaseBook.ts'

/** Nothing in this protocol is longer; the sealed details are the longest part. */
export const MAX_LEASE_MESSAGE_BYTES = 16 * 1024
/** A signed request older or newer than this by the provider's clock is refused: it may be a replay. */
export const MAX_CLOCK_SKEW_MS = 120_000

const key = hex(32)
const leaseId = hex(16)
const nonce = hex(32)
const time = z.int().min(0).max(8.64e15)
const purpose = z.enum(['verify', 'rent'])
const toKey = { to: key }

/** From whoever wants the box. */
const askSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('request'),
    ...toKey,
    id: leaseId,
    purpose,
    seconds: z.int().min(1).max(MAX_RENT_SECONDS),
    /** Key that access is opened for and the details are sealed to; made for this one lease. */
    sshKey: z.string().max(2000),
    askedAtMs: time,
  }),
  z.strictObject({ kind: z.literal('release'), ...toKey, id: leaseId, askedAtMs: time }),
  z.strictObject({ kind: z.literal('liveness'), ...toKey, nonce, askedAtMs: time }),
])

/** From the provider. */
const answerSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hello'), ...toKey, sentAtMs: time }),
  z.strictObject({
    kind: z.literal('granted'),
    ...toKey,
    id: leaseId,
    expiresAtMs: time,
    sealed: base64.max(8192),
  }),
  z.strictObject({ kind: z.literal('busy'), ...toKey, id: leaseId, purpose, untilMs: time }),
  z.strictObject({
    kind: z.literal('refused'),
    ...toKey,
    id: leaseId,
    code: z.string().regex(/^[A-Z_]{1,40}$/),
    why: shortText,
  }),
  z.strictObject({ kind: z.literal('released'), ...toKey, id: leaseId }),
  z.strictObject({
    kind: z.literal('alive'),
    ...toKey,
    nonce,
    state: z.enum(['free', 'verifying', 'leased']),
    sentAtMs: time,
  }),
])

export type LeaseAsk = z.infer<typeof askSchema>
export type LeaseAnswerMessage = z.infer<typeof answerSchema>

/** What is sealed to the lease's key: where to go, who to be, and whom to find there. */
export const accessDetailsSchema = z.strictObject({
  user: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/),
  host: z
    .string()
    .max(253)
    .regex(/^[A-Za-z0-9.:-]+$/),
  port: z.int().min(1).max(65_535),
  /** Pinned: the lease names its host key, so that nobody can sit in between (attack 14). */
  hostKey: z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}$/),
  confinement: z.enum(['container', 'own account', 'shared account']),
  /** Secret that ties a dialled-out tunnel to this lease; empty where the box is reached directly. */
  tunnel: z.string().regex(/^([0-9a-f]{64})?$/),
})
export type AccessDetails = z.infer<typeof accessDetailsSchema>

const VERSION = 1

export interface Signed<T> {
  /** Hex of the key that signed. */
  readonly from: string
  readonly message: T
}

/** Messages of one direction: the tag keeps a signature from serving in the other. */
function signedUnder<T extends { readonly to: string }>(tagText: string, schema: z.ZodType<T>) {
  const tag = ascii(tagText)
  return {
    encode(message: T, signer: Signer): Uint8Array {
      const body = new TextEncoder().encode(JSON.stringify(message))
      return concatBytes(Uint8Array.of(VERSION), signer.publicKey, signer.sign(concatBytes(tag, body)), body)
    },
    /** The signature is checked over the bytes as they came, and before they are parsed. `self` must be whom they are for. */
    decode(bytes: Uint8Array, self: string): Signed<T> {
      if (bytes.length > MAX_LEASE_MESSAGE_BYTES) throw new DecodeError('lease message: too long')
      const reader = new ByteReader(bytes)
      if (reader.u8('lease message') !== VERSION) throw new DecodeError('lease message: another version')
      const from = reader.bytes(KEY_BYTES, 'lease message key')
      const signature = reader.bytes(SIGNATURE_BYTES, 'lease message signature')
      const body = reader.rest('lease message body')
      if (!checkSignature(signature, concatBytes(tag, body), from))
        throw new DecodeError('lease message: bad signature')
      const message = decodeJson(body, schema, 'lease message')
      if (message.to !== self) throw new DecodeError('lease message: meant for somebody else')
      return { from: toHex(from), message }
    },
  }
}

export const { encode: encodeAsk, decode: decodeAsk } = signedUnder('tsl1/ask', askSchema)
export const { encode: encodeAnswer, decode: decodeAnswer } = signedUnder('tsl1/answer', answerSchema)

export const isFresh = (askedAtMs: number, nowMs: number): boolean => Math.abs(nowMs - askedAtMs) <= MAX_CLOCK_SKEW_MS
