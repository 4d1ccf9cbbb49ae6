import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CheckSignature,
  checkSignature,
  isTorsionFreeKey,
  signerFrom,
  withFastYes,
} from '../../core/bytes/ed25519.ts'
import { fromHex } from '../../core/bytes/hex.ts'
import { opensslCheck } from '../system/nativeSigner.ts'
import { openNative } from './openNative.ts'
import { openVrf } from './openVrf.ts'
import { openWasm } from './openWasm.ts'

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../test/vectors/${name}.json`, import.meta.url), 'utf8'))
const bytes = (hex: string) => fromHex(hex, hex.length / 2)!
interface Judged {
  readonly name: string
  readonly public: string
  readonly message: string
  readonly signature: string
  readonly valid: boolean
  readonly torsionFree: boolean
}
const borders: readonly Judged[] = read('torsion')
const cases: readonly Judged[] = [...borders, ...read('ed25519').judged]

const native = await openNative().catch(() => null)
const bare = {
  'node:crypto': opensslCheck,
  'sodium-wasm': (await openWasm()).checkSignature,
  ...(native && { 'sodium-native': native.checkSignature }),
}
const rules = Object.entries(bare).map(([name, fast]) => [name, withFastYes(fast)] as const)

describe('one rule for Ed25519 on every library', () => {
  test.each([['noble', checkSignature] as const, ...rules])('%s judges the borders as the rule does', (_, check) => {
    for (const { name, public: key, message, signature, valid } of cases)
      expect(`${name}: ${check(bytes(signature), bytes(message), bytes(key))}`).toBe(`${name}: ${valid}`)
  })

  test('none is the rule by itself: all lack the cofactor, and OpenSSL says yes to keys of small order', () => {
    const differs = (check: CheckSignature, judged: boolean) =>
      cases.filter(({ public: key, message, signature, valid }) =>
        valid === judged ? check(bytes(signature), bytes(message), bytes(key)) !== valid : false,
      )
    for (const check of Object.values(bare)) expect(differs(check, true).length).toBeGreaterThan(30)
    const wrongYes = Object.entries(bare).filter(([, check]) => differs(check, false).length > 0)
    expect(wrongYes.map(([name]) => name)).toEqual(['node:crypto'])
  })

  test('every library agrees on tampered signatures', () => {
    const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(secret, fc.uint8Array({ maxLength: 60 }), fc.nat(63), fc.nat(255), (key, message, at, mask) => {
        const { publicKey, sign } = signerFrom(key)
        const signature = sign(message)
        signature[at]! ^= mask
        for (const [, check] of rules) expect(check(signature, message, publicKey)).toBe(mask === 0)
      }),
      { numRuns: 15 },
    )
  })

  test('what has not the length of a key or a signature is refused, not thrown', () => {
    for (const [, check] of rules)
      for (const [signature, key] of [
        [0, 32],
        [63, 32],
        [65, 32],
        [64, 0],
        [64, 31],
        [64, 33],
      ] as const)
        expect(check(new Uint8Array(signature), new Uint8Array(2), new Uint8Array(key))).toBe(false)
  })

  test('an account key is free of torsion, by every library', async () => {
    const { isAccountKey } = await openVrf()
    for (const isKey of [isTorsionFreeKey, isAccountKey]) {
      for (const { name, public: key, torsionFree } of borders)
        expect(`${name}: ${isKey(bytes(key))}`).toBe(`${name}: ${torsionFree}`)
      for (const length of [0, 31, 33]) expect(isKey(new Uint8Array(length))).toBe(false)
      const any = fc.uint8Array({ minLength: 32, maxLength: 32 })
      fc.assert(
        fc.property(any, (key) => isKey(key) === isTorsionFreeKey(key)),
        { numRuns: 50 },
      )
    }
  })
})
