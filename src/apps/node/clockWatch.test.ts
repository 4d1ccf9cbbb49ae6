import { expect, test } from 'vitest'
import { ClockWatch } from './clockWatch.ts'

test('a clock that is minutes off is noticed; slow blocks, a chain that stands still and one that is being fetched are not', () => {
  const watch = new ClockWatch(1_000)
  expect(watch.note('a', 100, { now: 101, final: 90 })).toBeNull()
  expect(watch.note('a', 105, { now: 103, final: 90 })).toBeNull()
  expect(watch.note('b', 300, { now: 103, final: 90 })).toEqual({ seconds: -197 })
  // It moves, and lies far back each time.
  expect(watch.note('c', 100, { now: 400, final: 90 })).toBeNull()
  expect(watch.note('c', 110, { now: 410, final: 90 })).toEqual({ seconds: 300 })
  expect(watch.note('d', 100, { now: 400, final: 90 })).toBeNull()
  expect(watch.note('d', 100, { now: 500, final: 90 })).toBeNull()
  expect(watch.note('e', 10, { now: 500, final: 90 })).toBeNull()
  expect(watch.note('e', 74, { now: 501, final: 90 })).toBeNull()
})
