import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printable } from './printable.ts'

test('property: whatever comes in, plain ASCII of a bounded length comes out', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { maxLength: 60 }), fc.integer({ min: 3, max: 50 }), (codes, most) => {
      const text = String.fromCharCode(...codes)
      const shown = printable(text, most)
      expect(shown).toMatch(/^[\x20-\x7e]*$/)
      expect(shown.length).toBeLessThanOrEqual(most)
    }),
    { numRuns: 40 },
  )
})

test('terminal escapes and line breaks lose their effect, plain text stays', () => {
  expect(printable('\u001b[2J\u001b]0;x\u0007\r\n\u009b1A')).toBe('?[2J?]0;x????1A')
  expect(printable('NVIDIA H200 (141 GB)')).toBe('NVIDIA H200 (141 GB)')
})
