import { ED25519_TORSION_SUBGROUP } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { vrfSuite } from '../../../test/suites/vrfSuite.ts'
import { fromHex } from '../../core/bytes/hex.ts'
import { bytesLe, ecvrf } from '../../core/chain/ecvrf.ts'
import { noblePoints, nobleVrf } from '../../core/chain/nobleVrf.ts'
import { openNative } from './openNative.ts'
import { openVrf } from './openVrf.ts'
import { openWasm } from './openWasm.ts'
import { sodiumPoints } from './sodiumPoints.ts'

const native = await openNative().catch((error: unknown) => {
  console.warn(`skipped: sodium-native cannot be loaded here (${error})`)
  return null
})
const wasm = await openWasm()
const libraries = {
  noble: nobleVrf,
  'sodium-wasm': ecvrf(sodiumPoints(wasm)),
  ...(native && { 'sodium-native': ecvrf(sodiumPoints(native)) }),
}

// All bits on all libraries: openVrf.long.test.ts.
const flipEvery: Record<string, number> = { noble: 19, 'sodium-wasm': 5 }
for (const [name, vrf] of Object.entries(libraries)) vrfSuite(name, vrf, flipEvery[name])

describe('the libraries', () => {
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })

  test('make the same proof, and judge it alike when it was tampered with', () => {
    const tampering = fc.record({ at: fc.nat(79), mask: fc.nat(255) })
    fc.assert(
      fc.property(seed, fc.uint8Array({ maxLength: 90 }), tampering, (secret, alpha, { at, mask }) => {
        const made = Object.values(libraries).map((vrf) => vrf.keyFrom(secret).prove(alpha))
        for (const proof of made) expect(proof).toEqual(made[0])
        const { publicKey, evaluate } = libraries.noble.keyFrom(secret)
        const [proof, beta] = [made[0]!, evaluate(alpha)]
        proof[at]! ^= mask
        for (const vrf of Object.values(libraries))
          expect(vrf.verify(publicKey, alpha, proof)).toEqual(mask === 0 ? beta : null)
      }),
      { numRuns: 15 },
    )
  })

  test('take any bytes as a key and a proof without a throw', () => {
    // Half of all y are on the curve, one in eight of those without torsion: mixed points are met often.
    fc.assert(
      fc.property(seed, seed, fc.uint8Array({ minLength: 48, maxLength: 48 }), (key, gamma, rest) => {
        for (const vrf of Object.values(libraries))
          expect(vrf.verify(key, new Uint8Array(3), Uint8Array.of(...gamma, ...rest))).toBeNull()
      }),
      { numRuns: 30 },
    )
  })
})

describe('the points of the libraries', () => {
  const sodiums = [wasm, ...(native ? [native] : [])].map(sodiumPoints)
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const times8OnNoble = (bytes: Uint8Array) => {
    const point = noblePoints.decodeTimesEight(bytes)
    return point && noblePoints.encode(point)
  }

  test('no bytes with y of p or more, or of small order, spell a point to start from', () => {
    const wide = Array.from({ length: 19 }, (_, above) => bytesLe(2n ** 255n - 19n + BigInt(above)))
    const small = ED25519_TORSION_SUBGROUP.map((hex) => fromHex(hex, 32)!)
    const signed = (bytes: Uint8Array) => Uint8Array.from(bytes, (byte, i) => (i === 31 ? byte | 0x80 : byte))
    for (const bytes of [...wide, ...small].flatMap((each) => [each, signed(each)])) {
      expect(times8OnNoble(bytes)).toBeNull()
      for (const points of sodiums) {
        expect(points.decodeTimesEight(bytes)).toBeNull()
        expect(points.decode(bytes)).toBeNull()
      }
    }
  })

  test('any other bytes spell the same point, or none, on all of them', () => {
    fc.assert(
      fc.property(seed, (bytes) => {
        for (const points of sodiums) expect(points.decodeTimesEight(bytes)).toEqual(times8OnNoble(bytes))
      }),
      { numRuns: 50 },
    )
  })
})

describe('the choice of a library', () => {
  const absent = { name: 'sodium-native', open: () => Promise.reject(new Error('no build for this machine')) } as const

  test('is the native one where it loads', async () => {
    const { name, passedOver } = await openVrf()
    expect(name).toBe(native ? 'sodium-native' : 'sodium-wasm')
    expect(passedOver).toHaveLength(native ? 0 : 1)
  })

  test('goes on to the next with a reason, and to noble in the end', async () => {
    const wasm = {
      name: 'sodium-wasm',
      open: async () => ({ vrf: libraries['sodium-wasm'], checkSignature: () => true, isAccountKey: () => true }),
    }
    const chosen = await openVrf([absent, { ...wasm, name: 'sodium-wasm' }])
    expect(chosen.name).toBe('sodium-wasm')
    expect(chosen.passedOver).toEqual(['sodium-native cannot be loaded here: Error: no build for this machine'])
    const last = await openVrf([absent])
    expect([last.name, last.vrf, last.passedOver.length]).toEqual(['noble', nobleVrf, 1])
  })
})
