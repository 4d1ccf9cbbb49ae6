import { createSocket } from 'node:dgram'
import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { addressesOf, isIn, isNoBox, isPublic, networkList, plainAddress } from './hostAddresses.ts'

test('attacks 93 and 106: this machine is known by every spelling and by all of its addresses', async () => {
  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    'localhost',
    '0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
  ]) {
    const found = await addressesOf(host)
    expect([host, found.length > 0 && found.every(isNoBox)]).toEqual([host, true])
  }
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  for (const { address } of own) expect(isNoBox(plainAddress(address))).toBe(true)
  for (const address of ['169.254.169.254', 'fe80::1', '224.0.0.1', '255.255.255.255', 'ff02::1', '64:ff9b::7f00:1'])
    expect([address, isNoBox(address)]).toEqual([address, true])
  for (const { address } of own.filter(({ family }) => family === 'IPv4')) {
    const [a, b, c, d] = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))
    for (const mapped of [`::ffff:${a}${b}:${c}${d}`, `0:0:0:0:0:FFFF:${address}`])
      for (const found of await addressesOf(mapped)) expect([mapped, isNoBox(found)]).toEqual([mapped, true])
  }
  for (const { address } of own.filter(({ family }) => family === 'IPv6')) {
    const long = address
      .replace('::', `:${'0000:'.repeat(9 - address.split(':').length)}`)
      .replace(/^:/, '')
      .toUpperCase()
    for (const found of await addressesOf(long)) expect([long, isNoBox(found)]).toEqual([long, true])
  }
  for (const address of ['203.0.113.7', '10.99.98.97', '2001:db8::1']) expect(isNoBox(address)).toBe(false)
})

test('attack 501: an IPv6 address has one spelling, however it was written', async () => {
  for (const spelled of ['2001:DB8:0:0:0:0:0:7', '2001:db8::0007', '2001:0db8::7%eth0'])
    expect(plainAddress(spelled)).toBe('2001:db8::7')
  expect(await addressesOf('2001:DB8:0:0:0:0:0:7')).toEqual(['2001:db8::7'])
})

test('a name that leads nowhere has no address, and a network is written with its length', async () => {
  expect(await addressesOf('x'.repeat(300))).toEqual([])
  expect(isIn(networkList(['10.0.0.0/8', '2001:db8::/32']), '10.1.2.3')).toBe(true)
  expect(isIn(networkList(['10.0.0.0/8', '2001:db8::/32']), '2001:db8::5')).toBe(true)
  expect(isIn(networkList(['10.0.0.0/8']), '11.1.2.3')).toBe(false)
  for (const bad of ['10.0.0.0', '10.0.0.0/33', 'x/8', '']) expect(() => networkList([bad])).toThrow()
})

test('attack 157: what a redirection may not lead to is no box either, unless an owner may have boxes there', () => {
  // The metadata of a cloud and the loopback, as gateways of IPv6 name them; protocols, links, groups.
  const nobody = ['64:ff9b:1::a9fe:a9fe', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', '2002:7f00:1::', '::a9fe:a9fe']
  for (const address of [...nobody, '192.0.0.8', '169.254.169.254', '0.0.0.1', '127.0.0.1', '224.0.0.1', 'fe80::1'])
    expect([address, isNoBox(address), isPublic(address)]).toEqual([address, true, false])
  for (const address of [
    '10.99.98.97',
    '100.64.3.2',
    '172.31.9.9',
    '192.168.77.66',
    '198.18.0.9',
    'fd00::9',
    'fec0::9',
  ])
    expect([address, isNoBox(address), isPublic(address)]).toEqual([address, false, false])
  for (const address of ['203.0.113.7', '2001:db8::1'])
    expect([isNoBox(address), isPublic(address)]).toEqual([false, true])
})

test('attack 458: names whose server never answers keep no other name waiting', async () => {
  const server = createSocket('udp4')
  server.on('message', (question, from) => {
    // Silent about evil.test. An answer has the question, and 203.0.113.7 for whoever asks for an address of IPv4.
    if (question.includes('evil')) return
    const head = Buffer.from(question)
    head.writeUInt16BE(0x8180, 2)
    const isV4 = question.readUInt16BE(question.length - 4) === 1
    head.writeUInt16BE(isV4 ? 1 : 0, 6)
    const answer = Buffer.from('c00c00010001000000000004cb007107', 'hex')
    server.send(isV4 ? Buffer.concat([head, answer]) : head, from.port, from.address)
  })
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
  const servers = [`127.0.0.1:${server.address().port}`]
  let answered = 0
  const evil = Array.from({ length: 8 }, (_, i) => addressesOf(`box${i}.evil.test`, servers).then(() => answered++))
  expect(await addressesOf('box.good.test', servers)).toEqual(['203.0.113.7'])
  expect(answered).toBe(0)
  server.close()
  await Promise.all(evil)
})
