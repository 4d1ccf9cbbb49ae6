import { crc32, deflateSync } from 'node:zlib'
import type { RgbPicture } from '../../core/work/kinds/simulation/slice.ts'

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
/** Eight bits, colour. */
const [DEPTH, TRUE_COLOUR] = [8, 2]

function chunk(name: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const out = Buffer.alloc(body.length + 8)
  out.writeUInt32BE(content.length, 0)
  out.set(body, 4)
  out.writeUInt32BE(crc32(body), body.length + 4)
  return out
}

/** A picture as the bytes of a PNG file. */
export function encodePng({ width, height, rgb }: RgbPicture): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([DEPTH, TRUE_COLOUR], 8)
  // Every row begins with the number of its filter: none.
  const rows = Buffer.alloc(height * (3 * width + 1))
  for (let y = 0; y < height; y++) rows.set(rgb.subarray(3 * width * y, 3 * width * (y + 1)), y * (3 * width + 1) + 1)
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', new Uint8Array())]
  return new Uint8Array(Buffer.concat([SIGNATURE, ...parts]))
}
