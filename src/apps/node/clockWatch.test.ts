import { expect, test } from 'vitest'
import { ClockWatch } from './clockWatch.ts'

test('a clock that is minutes off is noticed; slow blocks, a chain that stands still and one that is being fetched are not', () => {
  const watch = new ClockWatch(1_000)
  expect(watch.note('a', 100, 101)).toBeNull()
  expect(watch.note('a', 105, 103)).toBeNull()
  expect(watch.note('b', 300, 103)).toEqual({ seconds: -197 })
  // It moves, and lies far back each time.
  expect(watch.note('c', 100, 400)).toBeNull()
  expect(watch.note('c', 110, 410)).toEqual({ seconds: 300 })
  expect(watch.note('d', 100, 400)).toBeNull()
  expect(watch.note('d', 100, 500)).toBeNull()
})
