import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  hkdfSync,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import type { SshPublicKey } from '../../core/lease/sshPublicKey.ts'
import { fault } from './faults.ts'

/**
 * Bytes for the holder of an SSH key alone. Ed25519: the key's X25519 form, an ephemeral key, HKDF-SHA256. RSA: OAEP with
 * SHA-256 around a fresh key. The bytes themselves under AES-256-GCM; a key serves once, so the nonce may be zero.
 * Layout: u8 scheme (1 Ed25519, 2 RSA), u16 length of the wrapped key, wrapped key, tag (16), ciphertext.
 */
export function sealToKey(key: SshPublicKey, plain: Uint8Array): Uint8Array {
  const { wrapped, secret } = key.kind === 'ed25519' ? wrapForEd25519(key.point) : wrapForRsa(key)
  const cipher = createCipheriv('aes-256-gcm', secret, Buffer.alloc(12))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  const head = Buffer.alloc(3)
  head.writeUInt8(key.kind === 'ed25519' ? 1 : 2, 0)
  head.writeUInt16LE(wrapped.length, 1)
  return Buffer.concat([head, wrapped, cipher.getAuthTag(), text])
}

const SEALED_LIMIT_BYTES = 16 * 1024

/** What was sealed to the Ed25519 key of this seed: the only kind of key that we ask leases with. */
export function openSealed(seed: Uint8Array, sealed: Uint8Array): Uint8Array {
  try {
    if (sealed.length > SEALED_LIMIT_BYTES) throw new Error('too long')
    const bytes = Buffer.from(sealed)
    const wrappedEnd = 3 + bytes.readUInt16LE(1)
    const rest = bytes.subarray(wrappedEnd)
    if (bytes.readUInt8(0) !== 1 || rest.length < 16) throw new Error('another scheme')
    const decipher = createDecipheriv('aes-256-gcm', unwrap(seed, bytes.subarray(3, wrappedEnd)), Buffer.alloc(12))
    decipher.setAuthTag(rest.subarray(0, 16))
    return Buffer.concat([decipher.update(rest.subarray(16)), decipher.final()])
  } catch (cause) {
    throw fault('SEALED_FOR_ANOTHER', {}, cause)
  }
}

const INFO = Buffer.from('tsl1/seal')

/** Both public keys go into the derivation, so that a secret belongs to exactly this pair. */
const derive = (shared: Uint8Array, ephemeral: Uint8Array, recipient: Uint8Array): Buffer =>
  Buffer.from(hkdfSync('sha256', shared, Buffer.concat([ephemeral, recipient]), INFO, 32))

function wrapForEd25519(point: Uint8Array): { wrapped: Uint8Array; secret: Buffer } {
  const recipient = ed25519.utils.toMontgomery(point)
  const { secretKey, publicKey: wrapped } = x25519.keygen()
  return { wrapped, secret: derive(x25519.getSharedSecret(secretKey, recipient), wrapped, recipient) }
}

function unwrap(seed: Uint8Array, wrapped: Buffer): Buffer {
  const scalar = ed25519.utils.toMontgomerySecret(seed)
  const shared = x25519.getSharedSecret(scalar, wrapped)
  return derive(shared, wrapped, x25519.getPublicKey(scalar))
}

function wrapForRsa(key: Extract<SshPublicKey, { kind: 'rsa' }>): { wrapped: Buffer; secret: Buffer } {
  const [n, e] = [key.modulus, key.exponent].map((part) => Buffer.from(part).toString('base64url'))
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'RSA', n: n!, e: e! } })
  const secret = randomBytes(32)
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return { wrapped: publicEncrypt({ key: publicKey, padding, oaepHash: 'sha256' }, secret), secret }
}
