import { expect, test } from 'vitest'
import { fromHex, toHex } from '../bytes/hex.ts'
import { countSigners, type Revocations, revocationSchema, standingOf, withSuccessors } from './signers.ts'

const key = (byte: number) => fromHex(byte.toString(16).padStart(2, '0').repeat(32), 32)!
const since = '2026-01-02T00:00:00.000Z'
const rotated = (from: number, to: number) => ({
  key: toHex(key(from)),
  status: 'rotated' as const,
  since,
  successor: toHex(key(to)),
})
const revoked = (byte: number) => ({ key: toHex(key(byte)), status: 'revoked' as const, since })

test('trust goes from a key to its successors, also in a circle, and never back', () => {
  const list = [rotated(1, 2), rotated(2, 3), rotated(3, 1), rotated(4, 5)]
  expect(
    withSuccessors([key(1)], list)
      .map(toHex)
      .sort(),
  ).toEqual([1, 2, 3].map((byte) => toHex(key(byte))))
  expect(withSuccessors([key(5)], list)).toEqual([key(5)])
})

test('a key and those that took over from it are one signer', () => {
  const list: Revocations = [rotated(1, 2), rotated(2, 3)]
  expect(countSigners([1, 2, 3].map(key), list)).toBe(1)
  expect(countSigners([3, 4, 1].map(key), list)).toBe(2)
  expect(countSigners([1, 2].map(key), [rotated(1, 2), rotated(2, 1)])).toBe(1)
  expect(countSigners([], list)).toBe(0)
  // Attack 391: two that took over from one are of that one.
  expect(countSigners([2, 3].map(key), [rotated(1, 2), rotated(1, 3)])).toBe(1)
  expect(countSigners([2, 3].map(key), [rotated(2, 4), rotated(3, 4)])).toBe(1)
})

test.each([
  ['2026-01-01T23:59:59.999Z', 'good', 'doubtful'],
  ['2026-01-02T00:00:00.000Z', 'bad', 'bad'],
])('issued %s: rotated %s, revoked %s', (issuedAt, whenRotated, whenRevoked) => {
  expect(standingOf(key(1), issuedAt, [rotated(1, 2)])).toBe(whenRotated)
  expect(standingOf(key(1), issuedAt, [revoked(1)])).toBe(whenRevoked)
  expect(standingOf(key(2), issuedAt, [rotated(1, 2), revoked(3)])).toBe('good')
})

test('the list is read strictly', () => {
  const read = (keys: unknown) => revocationSchema.safeParse({ version: 1, keys }).success
  expect(read([rotated(1, 2), revoked(3)])).toBe(true)
  expect(read([{ ...revoked(1), successor: toHex(key(2)) }])).toBe(false)
  expect(read([{ ...rotated(1, 2), successor: undefined }])).toBe(false)
  expect(read([{ ...revoked(1), since: '2026-01-02' }])).toBe(false)
  expect(read([{ ...revoked(1), key: 'AB'.repeat(32) }])).toBe(false)
})
