import { expect, test } from 'vitest'
import { transferLines } from './deviceLines.ts'

test('rates between host and card are shown both ways, as the word of the box', () => {
  expect(transferLines({ hostToCardBytesPerSec: 55.5e9, cardToHostBytesPerSec: 55.3e9 })).toEqual([
    '  host to card   as the box says: 55.5 GB/s, and 55.3 GB/s back',
  ])
})

test('a card whose rates could not be had says why, and a CPU says nothing', () => {
  expect(transferLines({ transferRates: 'not measured: OUT_OF_MEMORY' })).toEqual([
    '  host to card   as the box says: "not measured: OUT_OF_MEMORY"',
  ])
  expect(transferLines({ threads: 2 })).toEqual([])
})

test('half a measurement, or one that is no number, is not shown as one', () => {
  expect(transferLines({ hostToCardBytesPerSec: 1e9 })).toEqual([])
  expect(transferLines({ hostToCardBytesPerSec: '1e9', cardToHostBytesPerSec: true })).toEqual([])
})
