import { expect, test } from 'vitest'
import { oneCardSchedule, worstOf } from '../../../test/support/oneCard.ts'

test('attack 71: of 10,000 ways to serve 2 to 32 series with one card none counts as more than the card', () => {
  const version2 = worstOf(oneCardSchedule(), 2, 10_000)
  const version1 = worstOf(oneCardSchedule(), 1, 10_000)
  const said = ({ ratio, devices }: typeof version2) => `${ratio.toFixed(4)} cards (as ${devices} devices)`
  console.log(`the most of 10,000 schedules: version 2 ${said(version2)}, version 1 ${said(version1)}`)
  expect(version2.ratio).toBeLessThanOrEqual(1)
  expect(version1.ratio).toBeGreaterThan(2)
})
