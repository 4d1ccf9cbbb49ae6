import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { BAN_MS, MOST_BANNED_NAMES, MOST_FAULTS } from '../../ports/network.ts'
import { addressOf } from './addressOf.ts'
import { Standing } from './standing.ts'

const open = () => {
  let now = 0
  const standing = new Standing(() => now)
  const pass = (ms: number) => {
    now += ms
  }
  /** Cuts a name off, and says whether its address is, too. */
  const cutOff = (name: string, address: string | null) => {
    let told = standing.note(name, address)
    for (let i = 1; i < MOST_FAULTS; i++) told = standing.note(name, address)
    return told === 'address'
  }
  return { standing, pass, cutOff }
}

test('ten faults cut a name off for ten minutes, and a minute forgives one', () => {
  const { standing, pass } = open()
  for (let i = 1; i < MOST_FAULTS; i++) expect(standing.note('ada', null)).toBeNull()
  pass(60_000)
  expect(standing.faultsOf('ada')).toBe(MOST_FAULTS - 2)
  expect([standing.note('ada', null), standing.note('ada', null)]).toEqual([null, 'name'])
  expect([standing.isBanned('ada'), standing.isBanned('bob')]).toEqual([true, false])
  pass(BAN_MS)
  expect(standing.isBanned('ada')).toBe(false)
})

test('attack 24: an address whose names were cut off again and again is cut off itself, whatever its next name', () => {
  const { standing, pass, cutOff } = open()
  const address = '203.0.113.9'
  for (let i = 1; i < MOST_BANNED_NAMES; i++) expect(cutOff(`name ${i}`, address)).toBe(false)
  expect(standing.isAddressBanned(address)).toBe(false)
  expect(cutOff('the last one', address)).toBe(true)
  expect([standing.isAddressBanned(address), standing.isAddressBanned('203.0.113.10')]).toEqual([true, false])
  pass(BAN_MS)
  expect(standing.isAddressBanned(address)).toBe(false)
})

test('names that are cut off once in a while do not add up, and this machine is never cut off', () => {
  const { standing, pass, cutOff } = open()
  for (let i = 0; i < 4 * MOST_BANNED_NAMES; i++) {
    expect(cutOff(`name ${i}`, '203.0.113.9')).toBe(false)
    expect(cutOff(`local ${i}`, null)).toBe(false)
    pass(BAN_MS)
  }
  expect(standing.isAddressBanned(null)).toBe(false)
})

test('an address is what costs something: all of IPv4, half of IPv6, and nothing of this machine', () => {
  const told = ['/ip4/203.0.113.9/tcp/1', '/ip4/127.0.0.1/tcp/1', '/ip6/::1/tcp/1', '/dns/node.example/tcp/1']
  expect(told.map((text) => addressOf(multiaddr(text)))).toEqual(['203.0.113.9', null, null, null])
  const one = ['/ip6/2001:db8::1/tcp/1', '/ip6/2001:db8:0:0:ffff:1:2:3/tcp/9', '/ip6/2001:db8:0:0:0::9/tcp/1']
  expect(new Set(one.map((text) => addressOf(multiaddr(text))))).toEqual(new Set(['2001:db8:0:0::/64']))
  expect(addressOf(multiaddr('/ip6/2001:db8:0:1::1/tcp/1'))).toBe('2001:db8:0:1::/64')
  expect(addressOf(multiaddr('/ip6/::ffff:203.0.113.9/tcp/1'))).toBe('203.0.113.9')
  expect(addressOf(multiaddr('/ip6/::ffff:127.0.0.1/tcp/1'))).toBeNull()
})
