import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex } from './hex.ts'

describe('hex', () => {
  test('property: equals the standard and comes back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (value) => {
        expect(toHex(value)).toBe(Buffer.from(value).toString('hex'))
        expect(fromHex(toHex(value), value.length)).toEqual(value)
      }),
    )
  })

  test('property: any other length, case or letter is refused', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.nat(6), (text, length) => {
        const value = fromHex(text, length)
        if (value !== null) expect(toHex(value)).toBe(text)
        expect(value === null || value.length === length).toBe(true)
      }),
      { numRuns: 500 },
    )
    for (const text of ['AB', '0x', 'g0', ' 0', '0', '000', '0\n']) expect(fromHex(text, 1)).toBeNull()
  })
})
