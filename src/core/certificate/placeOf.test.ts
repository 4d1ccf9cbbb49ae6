import { expect, test } from 'vitest'
import { placeOf } from './statement.ts'

test.each([
  ['ssh://203.0.113.7:22', 'ssh://203.0.113.7:22'],
  [`lease://h:7878#${'0'.repeat(64)}`, `lease://h:7878#${'0'.repeat(64)}`],
  ['proven to be at h', null],
  ['', null],
  ['x'.repeat(301), null],
  ['\u001b[2J', null],
  [7, null],
  [['h'], null],
  [undefined, null],
])('what a signer says of the place of a box, %j, is shown as %j', (told, shown) => {
  expect(placeOf(told === undefined ? {} : { extensions: { 'x-address': told } })).toBe(shown)
  expect(placeOf({ extensions: { 'x-other': told } })).toBeNull()
})
