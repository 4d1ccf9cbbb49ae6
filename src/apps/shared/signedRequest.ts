import { ascii, concatBytes } from '../../core/bytes/bytes.ts'
import { checkSignature, type Signer } from '../../core/bytes/ed25519.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'

/** Everything a signature covers: whoever changes one of them needs a new one. */
export interface SignedParts {
  /** Hex key of the validator asked: another one that knows the same writer must not take the request too. */
  readonly validator: string
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body: Uint8Array
  /** ISO, UTC. */
  readonly time: string
  /** 32 hex digits, never used again. */
  readonly nonce: string
}

export const SIGNATURE_HEADERS = {
  key: 'touchstone-key',
  time: 'touchstone-time',
  nonce: 'touchstone-nonce',
  signature: 'touchstone-signature',
} as const

/** One line each; none of them can hold a line break, so that no two requests have the same bytes. */
export function requestMessage({ validator, method, path, body, time, nonce }: SignedParts): Uint8Array {
  const lines = [validator, method, path, toHex(sha256(body)), time, nonce]
  return concatBytes(ascii('touchstone/request\n'), ascii(lines.map(oneLine).join('\n')))
}

const oneLine = (text: string): string => text.replace(/[^\x21-\x7e]/g, '?')

/** The headers that make a request a write of this signer. */
export function signRequest(parts: SignedParts, signer: Signer): Record<string, string> {
  return {
    [SIGNATURE_HEADERS.key]: toHex(signer.publicKey),
    [SIGNATURE_HEADERS.time]: parts.time,
    [SIGNATURE_HEADERS.nonce]: parts.nonce,
    [SIGNATURE_HEADERS.signature]: toHex(signer.sign(requestMessage(parts))),
  }
}

export function checkRequest(parts: SignedParts, keyHex: string, signatureHex: string): boolean {
  const key = fromHex(keyHex, 32)
  const signature = fromHex(signatureHex, 64)
  return key !== null && signature !== null && checkSignature(signature, requestMessage(parts), key)
}
