import { expect, test } from 'vitest'
import { summariseTelemetry } from './summariseTelemetry.ts'

const samples = [
  { device: 0, smClockMhz: 1980, powerWatts: 650.4, powerLimitWatts: 700, temperatureC: 60, throttle: 'powerLimit' },
  { device: 0, smClockMhz: 1500, powerWatts: 699.6, powerLimitWatts: 700, temperatureC: 66, throttle: 'idle' },
  { device: 1, smClockMhz: 300 },
  { device: 0, smClockMhz: 'fast' },
]

test('one line of ranges, limits and reasons for slowing down, of this device alone', () => {
  expect(summariseTelemetry(samples, 0, 700e12)).toBe(
    '1500 to 1980 MHz, 60 to 66 C, 650 to 700 W, limit 700 W, throttled by powerLimit in 33 % of the samples, 1.00 Top/s per watt at the highest power',
  )
  expect(summariseTelemetry(samples, 1, null)).toBe('300 MHz')
})

test('a card that said nothing is shown saying nothing', () => {
  expect(summariseTelemetry(samples, 2, 1e12)).toBe(null)
})

test('samples that are no samples are passed over, whoever signed them', () => {
  expect(summariseTelemetry([null, 5, 'x', [], { device: 0, powerWatts: 7 }], 0, null)).toBe('7 W')
})

test('driver errors are named once, with what is known of them', () => {
  const said = ['', '13', '13 79 800', 'reboot \u001b[2J'].map((xid) => ({ device: 0, xid }))
  expect(summariseTelemetry(said, 0, null)).toBe(
    'Xid 13 (a program made the compute engine fail), Xid 79 (the card fell off the bus), Xid 800',
  )
})

test('attack 300: what slows a card down is a name, not a sentence of the box', () => {
  const throttle = 'powerLimit none,AS_CLAIMED:8xH100_SXM,all_proven'
  expect(summariseTelemetry([{ device: 0, throttle }], 0, null)).toBe('throttled by powerLimit in 100 % of the samples')
})
