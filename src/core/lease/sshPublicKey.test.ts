import { Buffer } from 'node:buffer'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keyPair } from '../../../test/support/keyPair.ts'
import { parseSshPublicKey } from './sshPublicKey.ts'

const field = (bytes: Uint8Array): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(bytes.length)
  return Buffer.concat([head, bytes])
}
const lineOf = (type: string, ...fields: Uint8Array[]): string =>
  `${type} ${Buffer.concat([field(Buffer.from(type)), ...fields.map(field)]).toString('base64')}`
const bare = (text: string): string => text.split(' ').slice(0, 2).join(' ')

describe('parseSshPublicKey', () => {
  test('default: the keys that people make', () => {
    const ed = bare(keyPair().public)
    expect(parseSshPublicKey(ed)).toMatchObject({ kind: 'ed25519', line: ed })
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const { n, e } = publicKey.export({ format: 'jwk' })
    const modulus = Buffer.from(n!, 'base64url')
    const line = lineOf('ssh-rsa', Buffer.from(e!, 'base64url'), Buffer.concat([Buffer.alloc(1), modulus]))
    const parsed = parseSshPublicKey(line)
    expect(parsed.kind === 'rsa' && Buffer.from(parsed.modulus).equals(modulus)).toBe(true)
  })

  const point = Buffer.alloc(32, 7)
  test.each([
    ['options in front', `command="id" ${lineOf('ssh-ed25519', point)}`],
    ['a comment', `${lineOf('ssh-ed25519', point)} root@box`],
    ['a second line', `${lineOf('ssh-ed25519', point)}\n${lineOf('ssh-ed25519', point)}`],
    ['a line end', `${lineOf('ssh-ed25519', point)}\n`],
    ['31 bytes', lineOf('ssh-ed25519', point.subarray(1))],
    ['a field too many', lineOf('ssh-ed25519', point, point)],
    ['another type inside', `ssh-rsa ${lineOf('ssh-ed25519', point).split(' ')[1]}`],
    [
      'an RSA key of 1024 bits',
      lineOf('ssh-rsa', Buffer.of(1, 0, 1), Buffer.concat([Buffer.of(0), Buffer.alloc(128, 255)])),
    ],
    ['exponent 1', lineOf('ssh-rsa', Buffer.of(1), Buffer.concat([Buffer.of(0), Buffer.alloc(256, 255)]))],
    ['a negative modulus', lineOf('ssh-rsa', Buffer.of(1, 0, 1), Buffer.alloc(256, 255))],
    ['a type we do not take', lineOf('ssh-dss', point)],
    ['nothing', ''],
  ])('behavior: %s is refused', (_, text) => {
    expect(() => parseSshPublicKey(text)).toThrow(/ssh key/)
  })

  test('property: attack 50, whatever passes is spelt as it came and holds no second line or option', () => {
    const blob = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('base64'))
    fc.assert(
      fc.property(fc.constantFrom('ssh-ed25519', 'ssh-rsa'), blob, (type, text) => {
        expect(() => parseSshPublicKey(`${type} ${text}`)).toThrow(/ssh key/)
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const line = lineOf('ssh-ed25519', bytes)
        const parsed = parseSshPublicKey(line)
        expect(parsed.kind === 'ed25519' && Buffer.from(parsed.point).equals(bytes)).toBe(true)
        expect(parsed.line).toBe(line)
      }),
    )
  })
})
