import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { DecodeError } from '../../core/bytes/reader.ts'
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

/** Any other chunk could make a screen show something else than the pixels: texts hold profiles that turn a picture. */
const HARMLESS = ['tIME', 'pHYs']
const MOST_PIXELS = 2 ** 28

/** The pixels of a PNG file of eight bits and three colours, as anybody saved it. Throws a DecodeError for any other. */
export function decodePng(file: Uint8Array): RgbPicture {
  if (!Buffer.from(SIGNATURE).equals(file.subarray(0, SIGNATURE.length))) throw new DecodeError('png: not a PNG file')
  const [head, ...chunks] = chunksIn(file)
  if (head?.name !== 'IHDR' || head.content.length !== 13) throw new DecodeError('png: it has no header')
  const [width, height] = [head.content.readUInt32BE(0), head.content.readUInt32BE(4)]
  if (!head.content.subarray(8).equals(Buffer.of(DEPTH, TRUE_COLOUR, 0, 0, 0)))
    throw new DecodeError('png: its pixels are not eight bits each of red, green and blue')
  if (width * height === 0 || width * height > MOST_PIXELS) throw new DecodeError('png: its size cannot be')
  if (chunks.pop()?.name !== 'IEND') throw new DecodeError('png: cut short')
  const odd = chunks.find(({ name }) => name !== 'IDAT' && !HARMLESS.includes(name))
  if (odd) throw new DecodeError('png: it says how it is to be shown')
  if (chunks.some(isStretched)) throw new DecodeError('png: its pixels are not square')
  // Whoever reads it by the rules ends with the first other chunk, and shows what there is up to there.
  const isApart = chunks.filter(({ name }, i) => name === 'IDAT' && chunks[i - 1]?.name !== 'IDAT').length > 1
  if (isApart) throw new DecodeError('png: its pixels lie in several places')
  const packed = Buffer.concat(chunks.flatMap(({ name, content }) => (name === 'IDAT' ? [content] : [])))
  return { width, height, rgb: unfiltered(inflated(packed, height * (3 * width + 1)), width, height) }
}

interface Chunk {
  readonly name: string
  readonly content: Buffer
}

const isStretched = ({ name, content }: Chunk): boolean =>
  name === 'pHYs' && (content.length !== 9 || content.readUInt32BE(0) !== content.readUInt32BE(4))

function* chunksIn(file: Uint8Array): Generator<Chunk> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  for (let at = SIGNATURE.length; at < bytes.length; ) {
    const length = at + 12 <= bytes.length ? bytes.readUInt32BE(at) : Number.POSITIVE_INFINITY
    if (at + 12 + length > bytes.length) throw new DecodeError('png: cut short')
    const body = bytes.subarray(at + 4, at + 8 + length)
    if (crc32(body) !== bytes.readUInt32BE(at + 8 + length)) throw new DecodeError('png: a part of it was changed')
    yield { name: body.toString('latin1', 0, 4), content: body.subarray(4) }
    at += 12 + length
  }
}

function inflated(packed: Uint8Array, length: number): Uint8Array {
  let rows: Uint8Array
  try {
    rows = inflateSync(packed, { maxOutputLength: length })
  } catch {
    throw new DecodeError('png: its pixels cannot be unpacked')
  }
  if (rows.length !== length) throw new DecodeError('png: it has fewer pixels than it says')
  return rows
}

/** Every row names what was taken off its bytes: the byte to the left, above, their mean, or the nearest of three. */
function unfiltered(rows: Uint8Array, width: number, height: number): Uint8Array {
  const stride = 3 * width
  const rgb = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)]!
    if (filter > 4) throw new DecodeError('png: a row has no known filter')
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < 3 ? 0 : rgb[at - 3]!
      const above = y === 0 ? 0 : rgb[at - stride]!
      const corner = x < 3 || y === 0 ? 0 : rgb[at - stride - 3]!
      const taken = [0, left, above, (left + above) >> 1, nearest(left, above, corner)]
      rgb[at] = rows[y * (stride + 1) + 1 + x]! + taken[filter]!
    }
  }
  return rgb
}

function nearest(left: number, above: number, corner: number): number {
  const guess = left + above - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? above : corner
}
