import { expect, test } from 'vitest'
import { creditedOperations } from './liveRule.ts'

test('attack 456: what is dead is taken off what is needed, though draws are by all that is counted', () => {
  // A fifth is needed, and all of it is dead: the live rest was drawn four times of five.
  expect(creditedOperations(100, 0.8, 500)).toBe(0)
  expect(creditedOperations(100, 1, 500)).toBe(100)
  expect(creditedOperations(400, 0.9, 500)).toBe(350)
  // Below one half nothing is.
  expect([creditedOperations(100, 0.6), creditedOperations(100, 0.49)]).toEqual([60, 0])
})
