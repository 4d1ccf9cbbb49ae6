import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DecodeError } from '../bytes/reader.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { decodeInventory, details, encodeInventory, type OwnInventory } from './inventory.ts'

const text = fc.stringMatching(/^[\x20-\x7e]{0,120}$/)
const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{0,39}$/).filter((key) => !(key in {}) && key !== 'prototype')
const value = fc.oneof(
  text,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0),
  fc.boolean(),
)
const someDetails = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true })
const count = fc.nat(Number.MAX_SAFE_INTEGER)

const inventory: fc.Arbitrary<OwnInventory> = fc.record({
  program: text,
  devices: fc.array(
    fc.record({
      class: fc.constantFrom('cpu' as const, 'gpu' as const),
      backEnd: fc.constantFrom('cpu', 'cuda', 'rocm'),
      name: text,
      memoryBytes: count,
      freeBytes: count,
      precisions: fc.subarray([...PRECISION_NAMES]),
      details: someDetails,
    }),
    { minLength: 1, maxLength: 4 },
  ),
  host: someDetails,
})

describe('inventory', () => {
  test('attack 433: too many details are refused as such, whatever each of them holds', () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`a${i}`, []]))
    expect(details.safeParse(many).error?.issues).toMatchObject([{ message: 'at most 64 details' }])
    for (const wrong of [null, 1, 'words', [], undefined]) expect(details.safeParse(wrong).success).toBe(false)
  })

  test('property: comes back as it went', () => {
    fc.assert(
      fc.property(inventory, (one) => {
        expect(JSON.stringify(decodeInventory(encodeInventory(one)))).toBe(JSON.stringify(one))
      }),
    )
  })

  test('property: a changed inventory is refused with DecodeError or still keeps every rule', () => {
    fc.assert(
      fc.property(inventory, fc.nat(4000), fc.nat(255), (one, at, byte) => {
        const bytes = encodeInventory(one)
        bytes[at % bytes.length] = byte
        try {
          const read = decodeInventory(bytes)
          expect(JSON.stringify(read)).toMatch(/^[\x20-\x7e]*$/)
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError)
          expect((error as DecodeError).message).toMatch(/^inventory[\x20-\x7e]{0,120}$/)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('property: any JSON throws nothing but DecodeError, and repeats nothing of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(() => decodeInventory(new TextEncoder().encode(JSON.stringify(json)))).toThrow(DecodeError)
      }),
    )
  })

  test.each([
    '{"__proto__":{"x":1}}',
    '{"program":"p","devices":[],"host":{"__proto__":{"x":1}}}',
    '{"\\u005f_proto__":1}',
  ])('attack 12: refuses %s and pollutes nothing', (json) => {
    expect(() => decodeInventory(new TextEncoder().encode(json))).toThrow(DecodeError)
    expect(({} as { x?: number }).x).toBeUndefined()
  })
})
