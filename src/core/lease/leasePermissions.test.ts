import { expect, test } from 'vitest'
import { isPermitted } from './leasePermissions.ts'

test('attack 87: each key may do what it is named for, and "anyone" opens verifying alone', () => {
  const named = { verify: ['a'], rent: ['b'] }
  const may = (key: string) => [isPermitted(named, key, 'verify'), isPermitted(named, key, 'rent')]
  expect([may('a'), may('b'), may('c')]).toEqual([
    [true, false],
    [false, true],
    [false, false],
  ])
  const open = { verify: ['anyone'], rent: ['anyone'] }
  expect([isPermitted(open, 'c', 'verify'), isPermitted(open, 'c', 'rent')]).toEqual([true, false])
})
