import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js'
import { fromHex } from './hex.ts'

export const KEY_BYTES = 32
export const SIGNATURE_BYTES = 64

/** A signer: its public key, and signatures under it. The secret never leaves the closure. */
export interface Signer {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
  /** The same while the caller's thread goes on, for long messages; where a library can. */
  signAside?(message: Uint8Array): Promise<Uint8Array>
}

export function signerFrom(secret: Uint8Array): Signer {
  const publicKey = ed25519.getPublicKey(secret)
  return { publicKey, sign: (message) => ed25519.sign(message, secret) }
}

/** Whether this is the signature of this key over this message. */
export type CheckSignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean

/**
 * The rule, on whatever library: A and R in their only encoding, S < L, a key that is not of small order, and the equation
 * with the cofactor, 8 S B = 8 R + 8 h A. So no second spelling of a signature passes.
 */
export const checkSignature: CheckSignature = (signature, message, publicKey) => {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}

/**
 * The same rule with a fast library before it. Libraries differ at the borders: without the cofactor some say no to a
 * signature that is right, and some say yes to a key of small order or a y of p or more. So a yes counts where both points
 * are plain, and everything else is decided above.
 */
export const withFastYes =
  (fast: CheckSignature): CheckSignature =>
  (signature, message, publicKey) =>
    (signature.length === SIGNATURE_BYTES &&
      isPlainPoint(publicKey) &&
      isPlainPoint(signature.subarray(0, KEY_BYTES)) &&
      fast(signature, message, publicKey)) ||
    checkSignature(signature, message, publicKey)

/** Whether y, the number behind the sign bit, is below p = 2^255 - 19. */
export function hasCanonicalY(encoded: Uint8Array): boolean {
  if (encoded[0]! < 0xed || (encoded[31]! & 0x7f) !== 0x7f) return true
  for (let i = 1; i < 31; i++) if (encoded[i] !== 0xff) return true
  return false
}

const withoutSign = (encoded: Uint8Array): string => {
  const y = encoded.slice(0, KEY_BYTES)
  y[31]! &= 0x7f
  return String.fromCharCode(...y)
}

const SMALL_ORDER = new Set(ED25519_TORSION_SUBGROUP.map((point) => withoutSign(fromHex(point, KEY_BYTES)!)))
/** Their first bytes: of other points one in fifty is looked at further. */
const SMALL_ORDER_STARTS = new Set(ED25519_TORSION_SUBGROUP.map((point) => fromHex(point, KEY_BYTES)![0]))

const isSmallOrder = (encoded: Uint8Array): boolean =>
  SMALL_ORDER_STARTS.has(encoded[0]) && SMALL_ORDER.has(withoutSign(encoded))

const isPlainPoint = (encoded: Uint8Array): boolean =>
  encoded.length === KEY_BYTES && hasCanonicalY(encoded) && !isSmallOrder(encoded)

/** Whether an account may have this key: the only encoding of a point of order L, so that every library judges it alike. */
export function isTorsionFreeKey(publicKey: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(publicKey)
    return !point.is0() && point.isTorsionFree()
  } catch {
    return false
  }
}
