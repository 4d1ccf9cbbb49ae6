import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../../src/core/bytes/hex.ts'
import type { Vrf } from '../../src/core/chain/ecvrf.ts'

const vectors = JSON.parse(readFileSync(new URL('../vectors/vrf.json', import.meta.url), 'utf8'))
const bytes = (hex: string) => fromHex(hex, hex.length / 2)!
const hexOrNull = (beta: Uint8Array | null) => beta && toHex(beta)

/** Proof and output of the examples of RFC 9381, appendix B.3. */
const RFC_9381: Record<string, readonly [proof: string, beta: string]> = {
  '16': [
    '8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f26f8a57ccaed74ee1b190bed1f479d9727d2d0f9b005a6e456a35d4fb0daab1268a1b0db10836d9826a528ca76567805',
    '90cf1df3b703cce59e2a35b925d411164068269d7b2d29f3301c03dd757876ff66b71dda49d2de59d03450451af026798e8f81cd2e333de5cdf4f3e140fdd8ae',
  ],
  '17': [
    'f3141cd382dc42909d19ec5110469e4feae18300e94f304590abdced48aed5933bf0864a62558b3ed7f2fea45c92a465301b3bbf5e3e54ddf2d935be3b67926da3ef39226bbc355bdc9850112c8f4b02',
    'eb4440665d3891d668e7e0fcaf587f1b4bd7fbfe99d0eb2211ccec90496310eb5e33821bc613efb94db5e5b54c70a848a0bef4553a41befc57663b56373a5031',
  ],
  '18': [
    '9bc0f79119cc5604bf02d23b4caede71393cedfbb191434dd016d30177ccbf8096bb474e53895c362d8628ee9f9ea3c0e52c7a5c691b6c18c9979866568add7a2d41b00b05081ed0f58ee5e31b3a970e',
    '645427e5d00c62a23fb703732fa5d892940935942101e456ecca7bb217c61c452118fec1219202a0edcf038bb6373241578be7217ba85a2687f7a0310b2df19f',
  ],
}

/** What every library must do with ECVRF-EDWARDS25519-SHA512-TAI, to the last bit. A slow one flips one bit in `flipEvery`. */
export function vrfSuite(name: string, vrf: Vrf, flipEvery = 1): void {
  describe(`the verifiable random function on ${name}`, () => {
    test('proves and verifies the examples of RFC 9381', () => {
      const published = vectors.proofs.filter((each: { name: string }) => each.name in RFC_9381)
      expect(published).toHaveLength(3)
      for (const { name, secret, alpha } of published) {
        const key = vrf.keyFrom(bytes(secret))
        const proof = key.prove(bytes(alpha))
        const beta = vrf.verify(key.publicKey, bytes(alpha), proof)
        expect([toHex(proof), hexOrNull(beta)]).toEqual(RFC_9381[name])
      }
    })

    test('equals the independent implementation, also where a point is found at the eighth try only', () => {
      expect(Math.max(...vectors.proofs.map((each: { tries: number }) => each.tries))).toBe(7)
      for (const { secret, public: publicKey, alpha, proof, beta } of vectors.proofs) {
        const key = vrf.keyFrom(bytes(secret))
        expect(toHex(key.publicKey)).toBe(publicKey)
        expect(toHex(key.prove(bytes(alpha)))).toBe(proof)
        expect(toHex(key.evaluate(bytes(alpha)))).toBe(beta)
        expect(hexOrNull(vrf.verify(bytes(publicKey), bytes(alpha), bytes(proof)))).toBe(beta)
      }
    })

    test('refuses torsion, second spellings and scalars out of range', () => {
      for (const { name, public: publicKey, alpha, proof, beta } of vectors.judged)
        expect(`${name}: ${hexOrNull(vrf.verify(bytes(publicKey), bytes(alpha), bytes(proof)))}`).toBe(
          `${name}: ${beta}`,
        )
    })

    test(`refuses ${flipEvery === 1 ? 'every flipped bit' : `one flipped bit in ${flipEvery}`} of the proof, of the key and of what was asked`, () => {
      const { public: publicKey, alpha, proof } = vectors.proofs[2]
      const parts = [bytes(publicKey), bytes(alpha), bytes(proof)] as const
      expect(vrf.verify(...parts)).not.toBeNull()
      const taken: string[] = []
      parts.forEach((part, which) => {
        for (let bit = 0; bit < 8 * part.length; bit += flipEvery) {
          part[bit >> 3]! ^= 1 << (bit & 7)
          if (vrf.verify(...parts) !== null) taken.push(`${which}/${bit}`)
          part[bit >> 3]! ^= 1 << (bit & 7)
        }
      })
      expect(taken).toEqual([])
    })

    test('a secret of another length is a mistake', () => {
      expect(() => vrf.keyFrom(new Uint8Array(31))).toThrow(RangeError)
    })
  })
}
