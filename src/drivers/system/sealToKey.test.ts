import { constants, createDecipheriv, generateKeyPairSync, privateDecrypt, randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SshPublicKey } from '../../core/lease/sshPublicKey.ts'
import { openSealed, sealToKey } from './sealToKey.ts'

interface Pair {
  readonly key: SshPublicKey
  readonly open: (sealed: Uint8Array) => Uint8Array
}

function ed25519Pair(): Pair {
  const seed = randomBytes(32)
  const key = { kind: 'ed25519', line: '', point: ed25519.getPublicKey(seed) } as const
  return { key, open: (sealed) => openSealed(seed, sealed) }
}

/** As a buyer with an RSA key opens it, by the layout of docs/spec/leases.md alone. */
function rsaPair(): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { n, e } = publicKey.export({ format: 'jwk' })
  const [modulus, exponent] = [Buffer.from(n!, 'base64url'), Buffer.from(e!, 'base64url')]
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const open = (sealed: Uint8Array) => {
    const bytes = Buffer.from(sealed)
    try {
      if (bytes.readUInt8(0) !== 2) throw new Error('another scheme')
      const end = 3 + bytes.readUInt16LE(1)
      const secret = privateDecrypt({ key: privateKey, padding, oaepHash: 'sha256' }, bytes.subarray(3, end))
      const decipher = createDecipheriv('aes-256-gcm', secret, Buffer.alloc(12), { authTagLength: 16 })
      decipher.setAuthTag(bytes.subarray(end, end + 16))
      return Buffer.concat([decipher.update(bytes.subarray(end + 16)), decipher.final()])
    } catch {
      throw new Error('not sealed to this key')
    }
  }
  return { key: { kind: 'rsa', line: '', modulus, exponent }, open }
}

describe.each([
  ['Ed25519', ed25519Pair()],
  ['RSA', rsaPair()],
])('sealed to %s', (_, { key, open }) => {
  test('property: its holder reads what was written, and no two seals look alike', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (plain) => {
        const sealed = sealToKey(key, plain)
        expect(Buffer.from(open(sealed)).equals(plain)).toBe(true)
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
        expect(() => open(changed)).toThrow(/not sealed/)
      }),
      { numRuns: 40 },
    )
  })

  test('behavior: another key opens nothing, nor do stray bytes', () => {
    const sealed = sealToKey(key, Buffer.from('where to go'))
    expect(() => ed25519Pair().open(sealed)).toThrow(/not sealed/)
    for (const bytes of [new Uint8Array(0), new Uint8Array(2), new Uint8Array(20_000), Uint8Array.of(1, 255, 255)])
      expect(() => ed25519Pair().open(bytes)).toThrow(/not sealed/)
  })
})
