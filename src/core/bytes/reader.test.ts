import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteReader, DecodeError } from './reader.ts'

test('property: reads in any order give the bytes there are, and DecodeError beyond the end', () => {
  const read = fc.oneof(fc.constant('u8' as const), fc.constant('u32' as const), fc.nat(12))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(read, { maxLength: 20 }), (bytes, reads) => {
      const reader = new ByteReader(bytes.subarray(1))
      const buffer = Buffer.from(bytes.subarray(1))
      let at = 0
      for (const wanted of reads) {
        const length = wanted === 'u8' ? 1 : wanted === 'u32' ? 4 : wanted
        const get = () =>
          wanted === 'u8' ? reader.u8('x') : wanted === 'u32' ? reader.u32('x') : reader.bytes(wanted, 'x')
        if (at + length > buffer.length) {
          expect(get).toThrow(DecodeError)
          continue
        }
        const expected =
          wanted === 'u8'
            ? buffer.readUInt8(at)
            : wanted === 'u32'
              ? buffer.readUInt32LE(at)
              : new Uint8Array(buffer.subarray(at, at + length))
        expect(get()).toEqual(expected)
        at += length
      }
      expect(reader.left).toBe(buffer.length - at)
      if (reader.left > 0) expect(() => reader.end('x')).toThrow(DecodeError)
      else reader.end('x')
    }),
  )
})

test('what was read is a copy and holds nothing else in memory', () => {
  const bytes = new Uint8Array(1000)
  const part = new ByteReader(bytes).bytes(4, 'x')
  bytes.fill(9)
  expect([...part]).toEqual([0, 0, 0, 0])
  expect(part.buffer.byteLength).toBe(4)
})
