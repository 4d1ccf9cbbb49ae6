import fc from 'fast-check'
import { expect, test } from 'vitest'
import { networkOf } from './networkOf.ts'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
])('%s asks as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test.each(['unknown', '', '1:2', '1::2::3', ':::', '12345::', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:999.0.0.1'])(
  'what is not an address (%j) stands for itself',
  (text) => {
    expect(networkOf(text)).toBe(text)
  },
)

test('attack 60: all addresses of a /64 are one asker, in whatever spelling, and two /64 are two', () => {
  const group = fc.integer({ min: 0, max: 0xffff })
  // A first group of 0 may spell an IPv4 address.
  const four = fc.tuple(fc.integer({ min: 1, max: 0xffff }), group, group, group)
  const spell = (groups: readonly number[]) => groups.map((value) => value.toString(16)).join(':')
  fc.assert(
    fc.property(four, four, four, four, (network, host, other, otherNetwork) => {
      const name = networkOf(spell([...network, ...host]))
      expect(networkOf(spell([...network, ...other]))).toBe(name)
      expect(networkOf(`${spell(network)}::`)).toBe(name)
      const same = networkOf(spell([...otherNetwork, ...host])) === name
      expect(same).toBe(spell(network) === spell(otherNetwork))
    }),
  )
})
