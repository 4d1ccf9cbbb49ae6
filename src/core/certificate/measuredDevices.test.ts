import { expect, test } from 'vitest'
import { type ProvenDevice, scalingOf } from './measuredDevices.ts'

const device = (together: number, alonePerSecond: number | null): ProvenDevice => ({
  device: 0,
  rates: { int8: together },
  classes: {},
  sustained: null,
  memory: null,
  bindPerSecond: null,
  alonePerSecond,
  linkPerSecond: null,
})

test('C7: devices that share one card show it, and nothing is said where one of them never ran alone', () => {
  expect(scalingOf([device(50, 100), device(50, 100)])).toBe(500)
  expect(scalingOf([device(50, 100), device(50, null)])).toBeNull()
  expect(scalingOf([device(50, 100)])).toBeNull()
  expect(scalingOf([device(50, 0), device(50, 0)])).toBeNull()
})
