import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { signerFrom } from '../bytes/ed25519.ts'
import { toHex } from '../bytes/hex.ts'
import {
  decodeAnswer,
  decodeAsk,
  encodeAnswer,
  encodeAsk,
  isFresh,
  type LeaseAnswerMessage,
  type LeaseAsk,
  MAX_CLOCK_SKEW_MS,
  MAX_LEASE_MESSAGE_BYTES,
} from './leaseMessages.ts'

const asker = signerFrom(new Uint8Array(32).fill(1))
const giver = signerFrom(new Uint8Array(32).fill(2))
const [askerKey, giverKey] = [toHex(asker.publicKey), toHex(giver.publicKey)]
const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(toHex)
const request: LeaseAsk = {
  kind: 'request',
  to: giverKey,
  id: '0'.repeat(32),
  purpose: 'verify',
  seconds: 60,
  sshKey: 'ssh-ed25519 AAAA',
  askedAtMs: 1,
}

describe('lease messages', () => {
  test('property: what was signed reads back, with the key that signed it', () => {
    const ask: fc.Arbitrary<LeaseAsk> = fc.oneof(
      fc.record({
        kind: fc.constant('request' as const),
        to: fc.constant(giverKey),
        id: hex(16),
        purpose: fc.constantFrom('verify' as const, 'rent' as const),
        seconds: fc.integer({ min: 1, max: 31 * 86_400 }),
        sshKey: fc.string({ maxLength: 500 }),
        askedAtMs: fc.nat(),
      }),
      fc.record({ kind: fc.constant('release' as const), to: fc.constant(giverKey), id: hex(16), askedAtMs: fc.nat() }),
      fc.record({
        kind: fc.constant('liveness' as const),
        to: fc.constant(giverKey),
        nonce: hex(32),
        askedAtMs: fc.nat(),
      }),
    )
    fc.assert(
      fc.property(ask, (message) => {
        expect(decodeAsk(encodeAsk(message, asker), giverKey)).toEqual({ from: askerKey, message })
      }),
      { numRuns: 20 },
    )
    const answer: LeaseAnswerMessage = { kind: 'busy', to: askerKey, id: request.id, purpose: 'rent', untilMs: 5 }
    expect(decodeAnswer(encodeAnswer(answer, giver), askerKey)).toEqual({ from: giverKey, message: answer })
  })

  test('property: attack 51, any changed byte is refused', () => {
    const bytes = encodeAsk(request, asker)
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Uint8Array.from(bytes)
        changed[at]! ^= flip
        expect(() => decodeAsk(changed, giverKey)).toThrow()
      }),
      { numRuns: 40 },
    )
  })

  test('property: hostile bytes end in a refusal, never in anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(() => decodeAsk(bytes, giverKey)).toThrow(/lease message/)
      }),
    )
    expect(() => decodeAsk(new Uint8Array(MAX_LEASE_MESSAGE_BYTES + 1), giverKey)).toThrow(/too long/)
  })

  test.each([
    ['a field too many', { ...request, extra: 1 }],
    ['a missing field', { ...request, id: undefined }],
    ['a negative time', { ...request, seconds: -1 }],
    ['a lease of years', { ...request, seconds: 1e9 }],
    ['another kind', { ...request, kind: 'granted' }],
    ['upper-case hex', { ...request, id: 'A'.repeat(32) }],
    ['NaN', { ...request, seconds: Number.NaN }],
    ['a prototype', JSON.parse(`{"__proto__":{"kind":"request"},"to":"${giverKey}"}`)],
  ])('behavior: %s is refused although it is signed', (_, message) => {
    expect(() => decodeAsk(encodeAsk(message as LeaseAsk, asker), giverKey)).toThrow(/lease message/)
  })

  test('attacks 33 and 51: a message for somebody else, or an answer played back as a question, is refused', () => {
    expect(() => decodeAsk(encodeAsk({ ...request, to: askerKey }, asker), giverKey)).toThrow(/somebody else/)
    const answer = encodeAnswer({ kind: 'hello', to: giverKey, sentAtMs: 1 }, asker)
    expect(() => decodeAsk(answer, giverKey)).toThrow(/signature/)
  })

  test('a question is fresh within two minutes of the clock', () => {
    expect([0, MAX_CLOCK_SKEW_MS, -MAX_CLOCK_SKEW_MS].map((d) => isFresh(1e6 + d, 1e6))).toEqual([true, true, true])
    expect([MAX_CLOCK_SKEW_MS + 1, -MAX_CLOCK_SKEW_MS - 1].map((d) => isFresh(1e6 + d, 1e6))).toEqual([false, false])
  })
})
