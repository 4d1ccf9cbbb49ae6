import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64 } from './base64.ts'

const bytes = fc.uint8Array({ maxLength: 100 })

describe('base64', () => {
  test('property: equals the standard and comes back', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(toBase64(value)).toBe(Buffer.from(value).toString('base64'))
        expect(fromBase64(toBase64(value))).toEqual(value)
      }),
    )
  })

  test('property: every text is refused or is the one spelling of its value', () => {
    const letters = fc.constantFrom(...'AQgw/+=4z -_\n\u0141'.split(''))
    const near = fc.tuple(bytes, fc.nat(200), fc.string({ maxLength: 2 })).map(([value, at, junk]) => {
      const text = toBase64(value)
      return text.slice(0, at) + junk + text.slice(at + 1)
    })
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: letters, maxLength: 12 }), near), (text) => {
        const value = fromBase64(text)
        if (value !== null) expect(toBase64(value)).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    'A',
    'AA',
    'AAA',
    '=',
    '====',
    'A===',
    'AA=A',
    'AB==',
    'AAB=',
    'AA==AAAA',
    'AAAA\n',
    ' AAAA',
    'AA=='.repeat(2),
  ])('refuses %j', (text) => expect(fromBase64(text)).toBeNull())
})
