import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import { checkSignature, type Signer } from '../bytes/ed25519.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import type { CertificateProblem } from './problems.ts'

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/** A run of 32 devices with every part stays below this; anything larger is not read. */
export const MAX_CERTIFICATE_BYTES = 64 * 2 ** 20

const HEAD = `{"payloadType":"${PAYLOAD_TYPE}","payload":"`
const MIDDLE = '","signatures":[{"keyid":"'
const BEFORE_SIGNATURE = '","sig":"'
const TAIL = '"}]}\n'

/** DSSE's pre-authentication encoding: type and payload with their lengths, so that neither can lend bytes to the other. */
function signedBytes(payload: Uint8Array): Uint8Array {
  return concatBytes(ascii(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload)
}

/** The one spelling of an envelope: DSSE as JSON without spaces, one signature, a line end. */
export function sealEnvelope(payload: Uint8Array, signer: Signer): string {
  const signature = toBase64(signer.sign(signedBytes(payload)))
  return HEAD + toBase64(payload) + MIDDLE + toHex(signer.publicKey) + BEFORE_SIGNATURE + signature + TAIL
}

export interface OpenedEnvelope {
  readonly payload: Uint8Array
  readonly signerKey: Uint8Array
}

/**
 * Takes an envelope apart by its fixed spelling rather than with a JSON parser: a changed byte anywhere is noticed, and
 * nested or endless input costs nothing.
 */
export function openEnvelope(text: string): OpenedEnvelope | CertificateProblem {
  if (text.length === 0) return { code: 'EMPTY' }
  if (text.length > MAX_CERTIFICATE_BYTES)
    return { code: 'TOO_LARGE', got: text.length, expected: MAX_CERTIFICATE_BYTES }
  if (!text.startsWith(HEAD)) return { code: 'NOT_A_CERTIFICATE' }
  const payloadEnd = text.indexOf('"', HEAD.length)
  const keyStart = payloadEnd + MIDDLE.length
  const signatureStart = keyStart + 64 + BEFORE_SIGNATURE.length
  if (payloadEnd < 0 || text.length < signatureStart + 88 + TAIL.length) return { code: 'TRUNCATED' }
  const spelledRight =
    text.startsWith(MIDDLE, payloadEnd) &&
    text.startsWith(BEFORE_SIGNATURE, keyStart + 64) &&
    text.slice(signatureStart + 88) === TAIL
  if (!spelledRight) return { code: 'NOT_CANONICAL' }
  const payload = fromBase64(text.slice(HEAD.length, payloadEnd))
  const signerKey = fromHex(text.slice(keyStart, keyStart + 64), 32)
  const signature = fromBase64(text.slice(signatureStart, signatureStart + 88))
  if (!payload || !signerKey || !signature) return { code: 'NOT_CANONICAL' }
  if (!checkSignature(signature, signedBytes(payload), signerKey)) return { code: 'BAD_SIGNATURE' }
  return { payload, signerKey }
}
