import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTokens, parseTokens } from './tokens.ts'

test('property: an amount is read back as it was written, to the last unit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (units) => {
      expect(parseTokens(formatTokens(units))).toBe(units)
    }),
  )
  expect([formatTokens(0n), formatTokens(12_500_000_000n), formatTokens(1n)]).toEqual(['0', '12.5', '0.000000001'])
})

test('what is no amount is none: nothing is rounded or guessed', () => {
  for (const text of [
    '',
    '-1',
    '+1',
    '1e3',
    '1,5',
    '.5',
    '5.',
    '01',
    '0x10',
    '1.0000000001',
    '99999999999',
    ' 1',
    'NaN',
  ])
    expect([text, parseTokens(text)]).toEqual([text, null])
})
