import { expect, test } from 'vitest'
import { readPem } from './pem.ts'

const chain = ['-----BEGIN CERTIFICATE-----', 'AAEC', '-----END CERTIFICATE-----'].join('\n')
const read = (text: string) => readPem(new TextEncoder().encode(text), 2)

test.each(['', '\n', '\r\n', '\n\r\n\n', '\n\0'])(
  'line ends after the last certificate are no part of it: %j',
  (ends) => {
    expect(read(chain + ends)).toEqual([Uint8Array.of(0, 1, 2)])
  },
)

test.each(['\r', '\n\r', ' \n', 'x'])('anything else after it is refused: %j', (more) => {
  expect(() => read(chain + more)).toThrow()
})

test('attack 386: a page of line ends does not hold us up', () => {
  // With a pattern each of them took 8 seconds, longer than a test may.
  for (const end of ['\n', '\r\n']) expect(() => read(`${end.repeat(65_536)}x`)).toThrow()
})
