import { expect, test } from 'vitest'
import type { LeasePurpose } from './leaseBook.ts'
import { isNamed, isPermitted } from './leasePermissions.ts'

const nothing = () => null
const may = (permissions: Parameters<typeof isPermitted>[0], key: string) => [
  isPermitted(permissions, key, 'verify'),
  isPermitted(permissions, key, 'rent'),
]

test('attack 87: each key may do what it is named for, and "anyone" opens verifying alone', () => {
  const named = { verify: ['a'], rent: ['b'], said: nothing }
  expect(['a', 'b', 'c'].map((key) => may(named, key))).toEqual([
    [true, false],
    [false, true],
    [false, false],
  ])
  expect(may({ verify: ['anyone'], rent: ['anyone'], said: nothing }, 'c')).toEqual([true, false])
})

test('what is said of a key later counts alone, whatever it was named for at the start', () => {
  const later: Readonly<Record<string, readonly LeasePurpose[]>> = { a: ['rent'], b: [], c: ['verify', 'rent'] }
  const permissions = { verify: ['a', 'anyone'], rent: ['b'], said: (key: string) => later[key] ?? null }
  expect(['a', 'b', 'c', 'd'].map((key) => may(permissions, key))).toEqual([
    [false, true],
    [false, false],
    [true, true],
    [true, false],
  ])
  expect(['a', 'b', 'c', 'd'].map((key) => isNamed(permissions, key))).toEqual([true, false, true, false])
})
