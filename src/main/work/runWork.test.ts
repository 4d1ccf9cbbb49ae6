import { expect, test } from 'vitest'
import { doubtsOf } from './runWork.ts'

test('attack 510: no number of boxes is a yes against one that fell silent, but for this machine and a replay', () => {
  const codes = (over: object, addresses: readonly string[]) => {
    const two = { agreed: [0, 1], credited: 1, isOpen: true, isReplayed: false }
    return doubtsOf({ ...two, ...over }, addresses).map(({ code }) => code)
  }
  expect(codes({}, ['root@a', 'root@b'])).toEqual(['RESULT_NOT_SHOWN'])
  expect(codes({ isOpen: false }, ['root@a', 'root@b'])).toEqual([])
  expect(codes({}, ['root@a', 'local'])).toEqual([])
  expect(codes({ isReplayed: true }, ['root@a', 'root@b'])).toEqual([])
})
