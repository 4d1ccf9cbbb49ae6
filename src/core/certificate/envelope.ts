import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import { checkSignature, type Signer } from '../bytes/ed25519.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import type { CertificateProblem } from './problems.ts'

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/** A run of 32 devices with every part stays below this; anything larger is not read. */
export const MAX_CERTIFICATE_BYTES = 64 * 2 ** 20

export const tooLarge = (got: number): CertificateProblem => ({
  code: 'TOO_LARGE',
  got,
  expected: MAX_CERTIFICATE_BYTES,
})

/** C1: so many may sign a certificate of version 2, in the order of their keys. */
const MOST_SIGNATURES = 8

const HEAD = `{"payloadType":"${PAYLOAD_TYPE}","payload":"`
const MIDDLE = '","signatures":['
const KEY = '{"keyid":"'
const BEFORE_SIGNATURE = '","sig":"'
const TAIL = ']}\n'
const SIGNATURE_LENGTH = KEY.length + 64 + BEFORE_SIGNATURE.length + 88 + '"}'.length

/** DSSE's pre-authentication encoding: type and payload with their lengths, so that neither can lend bytes to the other. */
function signedBytes(payload: Uint8Array): Uint8Array {
  return concatBytes(ascii(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload)
}

interface Signature {
  readonly key: string
  readonly signature: string
}

const spell = (payload: Uint8Array, signatures: readonly Signature[]): string =>
  HEAD +
  toBase64(payload) +
  MIDDLE +
  signatures.map(({ key, signature }) => `${KEY}${key}${BEFORE_SIGNATURE}${signature}"}`).join(',') +
  TAIL

/** The one spelling of an envelope: DSSE as JSON without spaces, signatures in the order of their keys, a line end. */
export function sealEnvelope(payload: Uint8Array, ...signers: readonly Signer[]): string {
  const message = signedBytes(payload)
  const signatures = signers.map(({ publicKey, sign }) => ({
    key: toHex(publicKey),
    signature: toBase64(sign(message)),
  }))
  return spell(payload, signatures.sort(byKey))
}

const byKey = (a: Signature, b: Signature): number => (a.key < b.key ? -1 : 1)

/** C1: the same file with one signature more, by another validator that watched the run. Null if there are eight already. */
export function counterSign(text: string, signer: Signer): string | null {
  const opened = openEnvelope(text)
  const list = splitSignatures(text.slice(text.indexOf(MIDDLE) + MIDDLE.length))
  if ('code' in opened || !list || list.length === MOST_SIGNATURES) return null
  const key = toHex(signer.publicKey)
  if (list.some((other) => other.key === key)) return text
  const signature = toBase64(signer.sign(signedBytes(opened.payload)))
  return spell(opened.payload, [...list, { key, signature }].sort(byKey))
}

export interface OpenedEnvelope {
  readonly payload: Uint8Array
  /** Whose signatures fit, ascending. */
  readonly signerKeys: readonly Uint8Array[]
}

/**
 * Takes an envelope apart by its fixed spelling rather than with a JSON parser: a changed byte anywhere is noticed, and
 * nested or endless input costs nothing.
 */
export function openEnvelope(text: string): OpenedEnvelope | CertificateProblem {
  if (text.length === 0) return { code: 'EMPTY' }
  if (text.length > MAX_CERTIFICATE_BYTES) return tooLarge(text.length)
  if (!text.startsWith(HEAD)) return { code: 'NOT_A_CERTIFICATE' }
  const payloadEnd = text.indexOf('"', HEAD.length)
  const listStart = payloadEnd + MIDDLE.length
  if (payloadEnd < 0 || text.length < listStart + SIGNATURE_LENGTH + TAIL.length) return { code: 'TRUNCATED' }
  const signatures = splitSignatures(text.slice(listStart, listStart + MOST_SIGNATURES * (SIGNATURE_LENGTH + 1)))
  const payload = fromBase64(text.slice(HEAD.length, payloadEnd))
  if (!payload || !signatures || text.slice(payloadEnd) !== spell(NOTHING, signatures).slice(HEAD.length))
    return { code: 'NOT_CANONICAL' }
  const message = signedBytes(payload)
  const signerKeys = signatures.map(({ key }) => fromHex(key, 32)!)
  const fits = ({ signature }: Signature, i: number) => checkSignature(fromBase64(signature)!, message, signerKeys[i]!)
  return signatures.every(fits) ? { payload, signerKeys } : { code: 'BAD_SIGNATURE' }
}

const NOTHING = new Uint8Array(0)

/** Keys and signatures by their places; null unless each is spelled the one way and the keys ascend. */
function splitSignatures(list: string): Signature[] | null {
  const signatures: Signature[] = []
  for (let at = 0; list.startsWith(KEY, at); at += SIGNATURE_LENGTH + 1) {
    const key = list.slice(at + KEY.length, at + KEY.length + 64)
    const from = at + KEY.length + 64 + BEFORE_SIGNATURE.length
    const signature = list.slice(from, from + 88)
    if (!fromHex(key, 32) || fromBase64(signature)?.length !== 64) return null
    if (signatures.some((before) => before.key >= key)) return null
    signatures.push({ key, signature })
  }
  return signatures.length > 0 ? signatures : null
}
