import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'
import type { CheckSignature, Signer } from '../../core/bytes/ed25519.ts'

const signLater = promisify(sign)

/** RFC 8410: what stands before the 32 bytes of an Ed25519 secret in PKCS #8. */
const PKCS8_HEAD = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20)

/** RFC 8410: what stands before the 32 bytes of an Ed25519 public key. */
const SPKI_HEAD = Uint8Array.of(0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0)

/**
 * The same signatures as core's signer (RFC 8032 leaves no choice), from the machine's own library: a certificate is a
 * megabyte, and a validator that hashes it in JavaScript stands still for a tenth of a second while other boxes answer.
 */
export function nativeSigner(secret: Uint8Array): Signer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, secret]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = new Uint8Array(spki.subarray(SPKI_HEAD.length))
  return {
    publicKey,
    sign: (message) => new Uint8Array(sign(null, message, key)),
    signAside: async (message) => new Uint8Array(await signLater(null, message, key)),
  }
}

/** To make a key object of 32 bytes takes longer than some checks; who asks comes again. */
const MOST_KEYS = 4096
const keys = new Map<string, KeyObject>()

function keyObject(publicKey: Uint8Array): KeyObject {
  const name = String.fromCharCode(...publicKey)
  const kept = keys.get(name)
  if (kept) return kept
  const made = createPublicKey({ key: Buffer.concat([SPKI_HEAD, publicKey]), format: 'der', type: 'spki' })
  if (keys.size >= MOST_KEYS) keys.delete(keys.keys().next().value!)
  keys.set(name, made)
  return made
}

/** The machine's own library, whose equation has no cofactor: its yes and no are those of `withFastYes`, not of the rule. */
export const opensslCheck: CheckSignature = (signature, message, publicKey) =>
  verify(null, message, keyObject(publicKey), signature)
