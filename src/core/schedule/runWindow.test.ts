import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isInWindow, type RunWindow, type Span, WINDOW_SLACK_US } from './runWindow.ts'

const time = fc.integer({ min: 0, max: 600_000_000 })
const span = fc.tuple(time, fc.integer({ min: 1, max: 60_000_000 })).map(([fromUs, for_]) => {
  return { fromUs, untilUs: fromUs + for_ }
})
const run = fc.tuple(span, span).map(([sustained, { fromUs }]): RunWindow => {
  return { fromUs: Math.min(fromUs, sustained.fromUs), untilUs: sustained.untilUs, sustained }
})
const overlap = (one: Span, other: Span) => Math.min(one.untilUs, other.untilUs) - Math.max(one.fromUs, other.fromUs)
const length = ({ fromUs, untilUs }: Span) => untilUs - fromUs

test('row 77: the sustained parts of two runs that count overlap in all of the shorter but the slack', () => {
  let counted = 0
  fc.assert(
    fc.property(run, run, fc.nat(2 * WINDOW_SLACK_US), fc.nat(2 * WINDOW_SLACK_US), (one, given, first, later) => {
      // Near the first run, or nothing would ever be in the same window.
      const shift = one.sustained!.fromUs + later - given.sustained!.fromUs
      const sustained = { fromUs: given.sustained!.fromUs + shift, untilUs: given.sustained!.untilUs + shift }
      const other = { fromUs: one.fromUs + first, untilUs: sustained.untilUs, sustained }
      const openings = { firstUs: one.fromUs, sustainedUs: one.sustained!.fromUs }
      expect(isInWindow(one, openings)).toBe(true)
      if (!isInWindow(other, openings)) return
      counted++
      const shorter = Math.min(length(one.sustained!), length(sustained))
      expect(overlap(one.sustained!, sustained)).toBeGreaterThanOrEqual(shorter - WINDOW_SLACK_US)
    }),
  )
  expect(counted).toBeGreaterThan(10)
})

test('row 77: a run that began before the window, or again after it, does not count', () => {
  const openings = { firstUs: 1_000_000, sustainedUs: 9_000_000 }
  const at = (fromUs: number, sustainedUs: number | null): RunWindow => {
    const sustained = sustainedUs === null ? null : { fromUs: sustainedUs, untilUs: sustainedUs + 20_000_000 }
    return { fromUs, untilUs: 40_000_000, sustained }
  }
  expect(isInWindow(at(1_000_000, 9_000_000), openings)).toBe(true)
  expect(isInWindow(at(1_000_000, null), openings)).toBe(true)
  expect(isInWindow(at(999_999, 9_000_000), openings)).toBe(false)
  expect(isInWindow(at(31_000_000, 39_000_000), openings)).toBe(false)
  expect(isInWindow(at(1_000_000, 12_000_000), openings)).toBe(false)
  expect(isInWindow(at(1_000_000, 9_000_000), { ...openings, sustainedUs: null })).toBe(false)
})
