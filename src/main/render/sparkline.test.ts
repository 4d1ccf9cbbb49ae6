import { expect, test } from 'vitest'
import { dipMarks, sparkline } from './deviceLines.ts'

test('the highest point is a full block, nothing is an empty one', () => {
  expect(sparkline([0, 50, 100])).toBe('▁▄█')
})

test('dips are marked under the curve', () => {
  expect(dipMarks([100, 80, 100, 89, 91], 100)).toBe(' ^ ^')
  expect(dipMarks([100, 99, 95], 100)).toBeNull()
})
