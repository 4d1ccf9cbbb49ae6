import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes } from '../bytes/bytes.ts'
import { DecodeError } from '../bytes/reader.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { type Challenge, decodeChallenge, encodeChallenge } from './challenge.ts'
import { devicesOf, type PartShape } from './part.ts'
import { kindOf, type Part, rootCount } from './partKinds.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const power = (low: number, high: number) => fc.integer({ min: low, max: high }).map((exponent) => 2 ** exponent)

const part = (deviceCount: number): fc.Arbitrary<Part> =>
  fc
    .record({
      kind: fc.constantFrom('rounds' as const, 'memory' as const, 'bind' as const),
      precision: fc.constantFrom(...PRECISION_NAMES),
      m: power(5, 12),
      k: power(5, 15),
      rounds: fc.integer({ min: 1, max: 2 ** 24 }),
      openings: fc.integer({ min: 1, max: 4096 }),
      mask: fc.integer({ min: 1, max: 2 ** deviceCount - 1 }),
      limitMs: fc.integer({ min: 1, max: 2 ** 31 }),
      openLimitMs: fc.integer({ min: 1, max: 2 ** 31 }),
      kept: fc.array(fc.integer({ min: 1, max: 4096 }), { minLength: deviceCount, maxLength: deviceCount }),
      nonceHash: bytes(32),
    })
    .map((one) => ({
      ...one,
      n: one.m,
      precision: one.kind === 'rounds' ? one.precision : 'int8',
      kept: one.kept.map((kept, d) => (one.kind === 'memory' && Math.floor(one.mask / 2 ** d) % 2 === 1 ? kept : 0)),
    }))
    .map((one) => one as Part)

const challenge: fc.Arbitrary<Challenge> = fc.integer({ min: 1, max: 32 }).chain((deviceCount) =>
  fc
    .record({
      version: fc.constantFrom(1 as const, 2 as const),
      runId: bytes(16),
      validatorKey: bytes(32),
      proverKey: bytes(32),
      deviceCount: fc.constant(deviceCount),
      parts: fc.array(part(deviceCount), { minLength: 1, maxLength: 4 }),
    })
    .map((one) => {
      // A link part over the last memory part, where there is one of all devices.
      const all = 2 ** deviceCount - 1
      const fill = one.parts.findLast(({ kind }) => kind === 'memory')
      if (!fill || fill.mask !== all || deviceCount < 2) return one
      const link = { ...fill, kind: 'link', precision: 'int8', kept: fill.kept.map(() => 0) } as const
      return { ...one, parts: [...one.parts, link] }
    }),
)

const decodes = (canonical: Uint8Array): Challenge | null => {
  try {
    return decodeChallenge(canonical)
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError)
    expect((error as DecodeError).message).toMatch(/^[\x20-\x7e]{1,120}$/)
    return null
  }
}

describe('challenge', () => {
  test('property: canonical bytes come back as the challenge they were', () => {
    fc.assert(
      fc.property(challenge, (one) => {
        expect(decodeChallenge(encodeChallenge(one))).toEqual(one)
      }),
    )
  })

  test('property: changed, cut or longer bytes are refused or are another challenge in its one spelling', () => {
    const change = fc.record({
      at: fc.nat(2000),
      xor: fc.integer({ min: 1, max: 255 }),
      cut: fc.nat(3),
      add: fc.nat(3),
    })
    fc.assert(
      fc.property(challenge, change, (one, { at, xor, cut, add }) => {
        const canonical = encodeChallenge(one)
        canonical[at % canonical.length] = canonical[at % canonical.length]! ^ xor
        const changed = concatBytes(canonical.subarray(0, canonical.length - cut), new Uint8Array(add))
        const read = decodes(changed)
        if (read) expect(encodeChallenge(read)).toEqual(changed)
      }),
      { numRuns: 400 },
    )
  })

  test('property: noise throws nothing but DecodeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => void decodes(noise)),
      { numRuns: 300 },
    )
  })

  test('property: what is asked of a device has a size, and its tree a depth', () => {
    fc.assert(
      fc.property(challenge, (one) => {
        for (const [p, asked] of one.parts.entries())
          for (const device of devicesOf(asked)) {
            expect(rootCount(asked, device)).toBeGreaterThanOrEqual(asked.rounds)
            const tiles = kindOf(asked).tiles(one.parts, p, device)
            const openingBytes = kindOf(asked).openingBytes(one.parts, p, device)
            expect(tiles).toBeGreaterThanOrEqual(1)
            expect(openingBytes % 32).toBe(0)
            expect(32 * Math.ceil(Math.log2(tiles))).toBeLessThanOrEqual(openingBytes)
          }
      }),
    )
  })

  const sample = (): Challenge => ({
    version: 2,
    runId: new Uint8Array(16),
    validatorKey: new Uint8Array(32),
    proverKey: new Uint8Array(32),
    deviceCount: 2,
    parts: [
      {
        kind: 'rounds',
        precision: 'int8',
        m: 64,
        n: 64,
        k: 64,
        rounds: 4,
        openings: 8,
        mask: 3,
        limitMs: 1000,
        openLimitMs: 1000,
        kept: [0, 0],
        nonceHash: new Uint8Array(32),
      },
    ],
  })

  test.each<[string, Partial<PartShape>]>([
    ['an empty mask', { mask: 0 }],
    ['a device that is not there', { mask: 4 }],
    ['no rounds', { rounds: 0 }],
    ['no openings', { openings: 0 }],
    ['too many openings', { openings: 4097 }],
    ['m that is no power of two', { m: 96, n: 96 }],
    ['m below a tile', { m: 16, n: 16 }],
    ['m other than n', { m: 32 }],
    ['k beyond exactness', { k: 65536 }],
    ['a fill outside memory', { kept: [1, 0] }],
    ['no fill in memory', { kind: 'memory' }],
    ['a fill of half the devices', { kind: 'memory', kept: [2, 0] }],
    ['too large a fill', { kind: 'memory', kept: [4097, 1] }],
    ['2^32 tiles', { kind: 'memory', m: 32768, n: 32768, kept: [4096, 4096] }],
    ['another precision in memory', { kind: 'memory', kept: [2, 2], precision: 'bf16' }],
    ['a link without a fill', { kind: 'link' }],
    ['no time', { limitMs: 0 }],
  ])('refuses %s', (_, change) => {
    const one = sample()
    expect(decodes(encodeChallenge(one))).not.toBeNull()
    expect(decodes(encodeChallenge({ ...one, parts: [{ ...one.parts[0]!, ...change } as Part] }))).toBeNull()
  })

  test('refuses a link part that says it fills memory too', () => {
    const one = sample()
    const fill = { ...one.parts[0]!, kind: 'memory', precision: 'int8', kept: [2, 2] } as const
    const linked = (kept: number[]) => encodeChallenge({ ...one, parts: [fill, { ...fill, kind: 'link', kept }] })
    expect(decodes(linked([0, 0]))).not.toBeNull()
    expect(decodes(linked([2, 2]))).toBeNull()
  })

  test('refuses no part, and one too many', () => {
    const one = sample()
    expect(decodes(encodeChallenge({ ...one, parts: [] }))).toBeNull()
    expect(decodes(encodeChallenge({ ...one, parts: Array(65).fill(one.parts[0]) }))).toBeNull()
  })
})
