import { Buffer } from 'node:buffer'
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type Signer, signerFrom } from '../../src/core/bytes/ed25519.ts'

/** What stands before the secret in a PKCS #8 file of an Ed25519 key. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

const known = new Map<number, Signer>()

/** The signer whose secret is this byte 32 times. Signs with Node's own Ed25519: the same bits, ten times sooner. */
export function testSigner(byte: number): Signer {
  const found = known.get(byte)
  if (found) return found
  const secret = new Uint8Array(32).fill(byte)
  const { publicKey } = signerFrom(secret)
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, secret]), format: 'der', type: 'pkcs8' })
  const signer = signing(publicKey, key)
  known.set(byte, signer)
  return signer
}

/** One with a key of its own. */
export function freshSigner(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return signing(new Uint8Array(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')), privateKey)
}

const signing = (publicKey: Uint8Array, key: KeyObject): Signer => ({
  publicKey,
  sign: (message) => new Uint8Array(sign(null, message, key)),
})
