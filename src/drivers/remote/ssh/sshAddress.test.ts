import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatSshAddress, parseSshAddress } from './sshAddress.ts'

describe('parseSshAddress', () => {
  test('default: user, host and port are read, and 22 is the port nobody named', () => {
    expect(parseSshAddress('ssh://root@203.0.113.7:2222')).toEqual({ user: 'root', host: '203.0.113.7', port: 2222 })
    expect(parseSshAddress('ssh://ubuntu@gpu.Example.com')).toEqual({
      user: 'ubuntu',
      host: 'gpu.example.com',
      port: 22,
    })
    expect(parseSshAddress('ssh://host', 'me').user).toBe('me')
    expect(parseSshAddress('ssh://a@[::1]:22')).toEqual({ user: 'a', host: '::1', port: 22 })
  })

  test.each([
    'host',
    'http://a@b',
    'ssh://',
    'ssh://@host',
    'ssh://a@',
    'ssh://a@host:0',
    'ssh://a@host:65536',
    'ssh://a@host:22/path',
    'ssh://a@-oProxyCommand=x',
    'ssh://-l@host',
    'ssh://a b@host',
    'ssh://a@[host]',
    'ssh://a@host;id',
    'ssh://a@host\n',
    'ssh://a@b@c',
  ])('behavior: %j is refused', (text) => {
    expect(() => parseSshAddress(text)).toThrow(/not the address of a box/)
  })

  test('behavior: a password in the address is refused and not repeated', () => {
    expect(() => parseSshAddress('ssh://a:secret@host')).toThrow(/password/)
    try {
      parseSshAddress('ssh://a:secret@host')
    } catch (error) {
      expect(String(error)).not.toContain('secret')
    }
  })

  test('property: what is printed reads back', () => {
    const address = fc.record({
      user: fc.stringMatching(/^[a-z_][a-z0-9_.-]{0,20}$/),
      host: fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()),
      port: fc.integer({ min: 1, max: 65_535 }),
    })
    fc.assert(
      fc.property(address, (wanted) => {
        const host = wanted.host.toLowerCase()
        expect(parseSshAddress(formatSshAddress({ ...wanted, host }))).toEqual({ ...wanted, host })
      }),
    )
  })
})
