import { crc32, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodePng } from './png.ts'

/** Reads a PNG as its specification says, chunk by chunk. */
function decode(png: Uint8Array) {
  const bytes = Buffer.from(png)
  expect(bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const body = bytes.subarray(at + 4, at + 8 + length)
    expect(bytes.readUInt32BE(at + 8 + length)).toBe(crc32(body))
    chunks.set(body.subarray(0, 4).toString('latin1'), body.subarray(4))
    at += 12 + length
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND'])
  const header = chunks.get('IHDR')!
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const rows = inflateSync(chunks.get('IDAT')!)
  expect(rows.length).toBe(height * (3 * width + 1))
  const row = (y: number) => rows.subarray(y * (3 * width + 1), (y + 1) * (3 * width + 1))
  const all = Array.from({ length: height }, (_, y) => row(y))
  expect(all.every((each) => each[0] === 0)).toBe(true)
  return { width, height, rgb: new Uint8Array(Buffer.concat(all.map((each) => each.subarray(1)))) }
}

test('what is written is read back, to the last pixel', () => {
  const sides = fc.record({ width: fc.integer({ min: 1, max: 20 }), height: fc.integer({ min: 1, max: 20 }) })
  const pictures = sides.chain(({ width, height }) => {
    const size = 3 * width * height
    return fc.uint8Array({ minLength: size, maxLength: size }).map((rgb) => ({ width, height, rgb }))
  })
  fc.assert(
    fc.property(pictures, (picture) => {
      expect(decode(encodePng(picture))).toEqual(picture)
    }),
  )
})
