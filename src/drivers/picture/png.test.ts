import { crc32, deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodePng, encodePng } from './png.ts'

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

const pictures = fc
  .record({ width: fc.integer({ min: 1, max: 20 }), height: fc.integer({ min: 1, max: 20 }) })
  .chain(({ width, height }) => {
    const size = 3 * width * height
    return fc.uint8Array({ minLength: size, maxLength: size }).map((rgb) => ({ width, height, rgb }))
  })

const chunk = (name: string, content: Uint8Array) => {
  const [body, ends] = [Buffer.concat([Buffer.from(name), content]), [Buffer.alloc(4), Buffer.alloc(4)] as const]
  ends[0].writeUInt32BE(content.length)
  ends[1].writeUInt32BE(crc32(body))
  return Buffer.concat([ends[0], body, ends[1]])
}

const TIME = chunk('tIME', Buffer.of(7, 234, 11, 16, 12, 0, 0))

/** As other programs save it: each row under a filter of its own, the pixels in two chunks, the time beside them. */
function saveElsewhere({ width, height, rgb }: ReturnType<typeof decode>, filters: readonly number[]): Buffer {
  const at = (x: number, y: number) => (x < 0 || y < 0 ? 0 : rgb[y * 3 * width + x]!)
  const rows = Array.from({ length: height }, (_, y) => {
    const filter = filters[y % filters.length]!
    const guess = (x: number) => {
      const [a, b, c] = [at(x - 3, y), at(x, y - 1), at(x - 3, y - 1)]
      const near = [a, b, c].reduce((best, one) =>
        Math.abs(a + b - c - one) < Math.abs(a + b - c - best) ? one : best,
      )
      return [0, a, b, Math.floor((a + b) / 2), near][filter]!
    }
    return [filter, ...Array.from({ length: 3 * width }, (_, x) => (at(x, y) - guess(x)) & 255)]
  })
  const packed = deflateSync(Uint8Array.from(rows.flat()))
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  return Buffer.concat([
    ...[Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), TIME],
    ...[chunk('IDAT', packed.subarray(0, 5)), chunk('IDAT', packed.subarray(5)), chunk('IEND', new Uint8Array())],
  ])
}

test('what is written is read back, to the last pixel, by another reader and by ours', () => {
  fc.assert(
    fc.property(pictures, (picture) => {
      expect(decode(encodePng(picture))).toEqual(picture)
      expect(decodePng(encodePng(picture))).toEqual(picture)
    }),
  )
})

test('what other programs save has the same pixels', () => {
  const filters = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(pictures, filters, (picture, used) => {
      expect(decodePng(saveElsewhere(picture, used))).toEqual(picture)
    }),
  )
})

test('a file cut short, with a byte changed, or that says how its colours are shown, is refused by name', () => {
  const file = encodePng({ width: 3, height: 2, rgb: Uint8Array.from({ length: 18 }, (_, i) => i) })
  for (let length = 0; length < file.length; length++)
    expect(() => decodePng(file.subarray(0, length))).toThrow(/^png: /)
  for (let at = 0; at < file.length; at++)
    expect(() => decodePng(file.map((byte, i) => (i === at ? byte ^ 16 : byte)))).toThrow(/^png: /)
  const gamma = Buffer.concat([file.subarray(0, 33), chunk('gAMA', Buffer.of(0, 0, 0, 1)), file.subarray(33)])
  expect(() => decodePng(gamma)).toThrow(/how it is to be/)
  const bomb = Buffer.concat([
    file.subarray(0, 33),
    chunk('IDAT', deflateSync(new Uint8Array(2 ** 20))),
    file.subarray(-12),
  ])
  expect(() => decodePng(bomb)).toThrow(/unpacked/)
})

test('attack 207: a file that others show otherwise than by its pixels is refused', () => {
  const file = encodePng({ width: 3, height: 2, rgb: Uint8Array.from({ length: 18 }, (_, i) => i) })
  const [head, end] = [file.subarray(0, 33), file.subarray(-12)]
  const packed = file.subarray(33 + 8, -12 - 4)
  const parts = [chunk('IDAT', packed.subarray(0, 9)), chunk('IDAT', packed.subarray(9))] as const
  expect(decodePng(Buffer.concat([head, TIME, ...parts, TIME, end]))).toEqual(decodePng(file))
  expect(() => decodePng(Buffer.concat([head, parts[0], TIME, parts[1], end]))).toThrow(/several places/)
  const pixels = (x: number, y: number) => chunk('pHYs', Buffer.of(0, 0, 0, x, 0, 0, 0, y, 1))
  expect(decodePng(Buffer.concat([head, pixels(9, 9), ...parts, end]))).toEqual(decodePng(file))
  expect(() => decodePng(Buffer.concat([head, pixels(1, 9), ...parts, end]))).toThrow(/not square/)
})

test('attack 335: words beside the pixels, which may tell others to turn the picture, are refused', () => {
  const file = encodePng({ width: 3, height: 2, rgb: Uint8Array.from({ length: 18 }, (_, i) => i) })
  const packet = '<x:xmpmeta xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="3"/>'
  const turned = [
    chunk('iTXt', Buffer.from(`XML:com.adobe.xmp\0\0\0\0\0${packet}`)),
    chunk('zTXt', Buffer.concat([Buffer.from('Raw profile type exif\0\0'), deflateSync(Buffer.from('exif'))])),
    chunk('tEXt', Buffer.from('Raw profile type exif\0exif')),
  ]
  for (const words of turned)
    for (const at of [33, file.length - 12])
      expect(() => decodePng(Buffer.concat([file.subarray(0, at), words, file.subarray(at)]))).toThrow(
        /how it is to be/,
      )
})
