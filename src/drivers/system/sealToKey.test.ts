import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SshPublicKey } from '../../core/lease/sshPublicKey.ts'
import { openSealed, type SealSecret, sealToKey } from './sealToKey.ts'

function ed25519Pair(): { key: SshPublicKey; secret: SealSecret } {
  const seed = randomBytes(32)
  return { key: { kind: 'ed25519', line: '', point: ed25519.getPublicKey(seed) }, secret: { kind: 'ed25519', seed } }
}
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = rsa.publicKey.export({ format: 'jwk' })
const rsaPair: { key: SshPublicKey; secret: SealSecret } = {
  key: {
    kind: 'rsa',
    line: '',
    modulus: Buffer.from(jwk.n!, 'base64url'),
    exponent: Buffer.from(jwk.e!, 'base64url'),
  },
  secret: { kind: 'rsa', pem: rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string },
}

describe.each([
  ['Ed25519', ed25519Pair()],
  ['RSA', rsaPair],
])('sealed to %s', (_, { key, secret }) => {
  test('property: its holder reads what was written, and no two seals look alike', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (plain) => {
        const sealed = sealToKey(key, plain)
        expect(Buffer.from(openSealed(secret, sealed)).equals(plain)).toBe(true)
        expect(Buffer.from(sealToKey(key, plain)).equals(sealed)).toBe(false)
      }),
      { numRuns: 20 },
    )
  })

  test('property: any changed byte is noticed', () => {
    const sealed = sealToKey(key, Buffer.from('where to go'))
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Uint8Array.from(sealed)
        changed[at]! ^= flip
        expect(() => openSealed(secret, changed)).toThrow(/not sealed/)
      }),
      { numRuns: 40 },
    )
  })

  test('behavior: another key opens nothing, nor do stray bytes', () => {
    const sealed = sealToKey(key, Buffer.from('where to go'))
    expect(() => openSealed(ed25519Pair().secret, sealed)).toThrow(/not sealed/)
    for (const bytes of [new Uint8Array(0), new Uint8Array(2), new Uint8Array(20_000), Uint8Array.of(1, 255, 255)])
      expect(() => openSealed(secret, bytes)).toThrow(/not sealed/)
  })
})
