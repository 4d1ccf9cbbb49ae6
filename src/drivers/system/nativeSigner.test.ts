import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signerFrom } from '../../core/bytes/ed25519.ts'
import { nativeSigner } from './nativeSigner.ts'

test('signs exactly as the signer of core does', () => {
  const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(
    fc.property(secret, fc.uint8Array({ maxLength: 300 }), (key, message) => {
      const [native, plain] = [nativeSigner(key), signerFrom(key)]
      expect(native.publicKey).toEqual(plain.publicKey)
      expect(native.sign(message)).toEqual(plain.sign(message))
    }),
    { numRuns: 30 },
  )
})
