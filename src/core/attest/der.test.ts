import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { der, generalTime, integer, octets, oid, sequence } from '../../../test/support/attest/writeDer.ts'
import { DerReader, onlyValue, readOid, readSmall, readUnsigned, TAG } from './der.ts'
import { Refused } from './refusals.ts'
import { rawSignature, readCertificate, readTime } from './x509.ts'

const part = fc.nat(2 ** 30)
const oids = fc
  .tuple(fc.constantFrom(0, 1, 2), fc.nat(39), fc.array(part, { minLength: 1, maxLength: 8 }))
  .map(([first, second, rest]) => [first, second, ...rest].join('.'))

test('object identifiers, numbers and times are read as they were written', () => {
  fc.assert(
    fc.property(oids, fc.nat(2 ** 31), fc.uint8Array({ minLength: 1, maxLength: 40 }), (name, small, bytes) => {
      expect(readOid(onlyValue(oid(name), TAG.oid, 'x'), 'x')).toBe(name)
      expect(readSmall(onlyValue(integer(small), TAG.integer, 'x'), 'x')).toBe(small)
      const read = readUnsigned(onlyValue(integer(bytes), TAG.integer, 'x'), 'x')
      expect(BigInt(`0x0${Buffer.from(read).toString('hex')}`)).toBe(BigInt(`0x0${Buffer.from(bytes).toString('hex')}`))
    }),
  )
  const seconds = fc.integer({ min: 0, max: 250_000_000_000 })
  fc.assert(
    fc.property(seconds, (at) => {
      expect(readTime(onlyValue(generalTime(1000 * at), TAG.generalizedTime, 'x'))).toBe(1000 * at)
    }),
  )
})

test('values of any length follow each other, and nothing is left over', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(700), { maxLength: 6 }), (lengths) => {
      const inside = new DerReader(
        onlyValue(sequence(...lengths.map((n) => octets(Buffer.alloc(n, 1)))), TAG.sequence, 'x').body,
        'x',
      )
      for (const length of lengths) expect(inside.take(TAG.octetString).body.length).toBe(length)
      expect(inside.done).toBe(true)
    }),
  )
})

test.each<[string, string]>([
  ['a length that is not the shortest', '048101ff'],
  ['a length with a zero in front', '04820001ff'],
  ['no fixed length', '0480ff0000'],
  ['a length of four bytes', '048400000001ff'],
  ['a tag of several bytes', '1f0401ff'],
  ['more than there is', '0405ff'],
  ['bytes after it', '0401ff00'],
  ['nothing', ''],
])('%s is refused', async (_, hex) => {
  expect(await refusalOf(() => onlyValue(Buffer.from(hex, 'hex'), TAG.octetString, 'x'))).toMatchObject({
    code: 'EVIDENCE_MALFORMED',
  })
})

test.each<[string, string]>([
  ['a negative number', '3006020180020101'],
  ['a number with a needless zero', '300702020001020101'],
  ['three numbers', '3009020101020101020101'],
  ['a number that is too large', sequence(integer(Buffer.alloc(49, 1)), integer(1)).toString('hex')],
])('a signature with %s is refused', async (_, hex) => {
  expect(await refusalOf(() => rawSignature(Buffer.from(hex, 'hex'), 'p384-sha384'))).not.toBeNull()
})

test('any bytes are a refusal or nothing, never another error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(255), (bytes, tag) => {
      for (const read of [() => readCertificate(bytes), () => readCertificate(der(0x30, der(tag, bytes)))])
        expect(read).toThrow(Refused)
    }),
  )
})
