import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CheckSignature, signerFrom, withFastYes } from '../../core/bytes/ed25519.ts'
import { takeApart } from '../../core/certificate/envelope.ts'
import { openEvidence } from '../../core/certificate/readEvidence.ts'
import { nativeSigner, opensslCheck } from './nativeSigner.ts'

test('signs exactly as the signer of core does', async () => {
  const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
  await fc.assert(
    fc.asyncProperty(secret, fc.uint8Array({ maxLength: 300 }), async (key, message) => {
      const [native, plain] = [nativeSigner(key), signerFrom(key)]
      expect(native.publicKey).toEqual(plain.publicKey)
      expect(native.sign(message)).toEqual(plain.sign(message))
      expect(await native.signAside!(message)).toEqual(plain.sign(message))
    }),
    { numRuns: 30 },
  )
})

test('every signature of a certificate is decided by the library that the reader brings', () => {
  const certificate = readFileSync(new URL('../../../bench/fixtures/h200-mainnet.json', import.meta.url))
  const fast = withFastYes(opensslCheck)
  const codeOf = (check: CheckSignature) => {
    const opened = openEvidence(takeApart(certificate), () => true, check)
    return 'code' in opened ? opened.code : 'VALID'
  }
  const refusing = (number: number): CheckSignature => {
    let asked = 0
    return (...signed) => fast(...signed) && asked++ !== number
  }
  expect(codeOf(fast)).toBe('VALID')
  expect([0, 1, 2, 3, 4].map((number) => codeOf(refusing(number)))).toEqual([
    'BAD_SIGNATURE',
    'BAD_READY_SIGNATURE',
    'BAD_RESULT_SIGNATURE',
    'BAD_RESULT_SIGNATURE',
    'VALID',
  ])
})
