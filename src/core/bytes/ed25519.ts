import { ed25519 } from '@noble/curves/ed25519.js'

export const KEY_BYTES = 32
export const SIGNATURE_BYTES = 64

/** A signer: its public key, and signatures under it. The secret never leaves the closure. */
export interface Signer {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

export function signerFrom(secret: Uint8Array): Signer {
  const publicKey = ed25519.getPublicKey(secret)
  return { publicKey, sign: (message) => ed25519.sign(message, secret) }
}

/** RFC 8032 rules: a non-canonical point or scalar, or a key of small order, is refused, so that no second spelling of a signature passes. */
export function checkSignature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}
