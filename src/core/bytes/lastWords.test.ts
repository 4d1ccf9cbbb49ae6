import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastWords } from './printable.ts'

test('keeps the message of a crash and drops its stack', () => {
  const crash = [
    '/box/prover.js:3',
    "  throw new Error('no such card')",
    '  ^',
    '',
    'Error: no such card',
    '    at open (/box/prover.js:3:9)',
    '    at node:internal/main/run_main_module:28:49 {',
    "  code: 'NO_CARD'",
    '}',
    '',
    'Node.js v22.1.0',
  ]
  expect(lastWords(crash.join('\n'))).toBe(
    "/box/prover.js:3 throw new Error('no such card') Error: no such card code: 'NO_CARD'",
  )
})

test('whatever a program wrote, it is one plain line and short, and the end of it survives', () => {
  // Any code point: the library's own unit for it takes a second to make.
  const foreign = fc.string({ unit: fc.nat(0x10ffff).map((code) => String.fromCodePoint(code)), maxLength: 100 })
  fc.assert(
    fc.property(foreign, fc.integer({ min: 3, max: 400 }), (text, most) => {
      expect(lastWords(text, most)).toMatch(/^[\x20-\x7e]*$/)
      expect(lastWords(text, most).length).toBeLessThanOrEqual(most)
      expect(lastWords(`${text}\nend`, most).endsWith('end')).toBe(true)
    }),
  )
})
