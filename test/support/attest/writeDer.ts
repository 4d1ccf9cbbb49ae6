import { Buffer } from 'node:buffer'

/** Writes DER for the made-up vendors of the tests. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  if (body.length < 0x80) return Buffer.concat([Buffer.of(tag, body.length), body])
  const length = body.length < 256 ? Buffer.of(0x81, body.length) : Buffer.of(0x82, body.length >> 8, body.length & 255)
  return Buffer.concat([Buffer.of(tag), length, body])
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
export const context = (n: number, ...parts: readonly Uint8Array[]): Buffer => der(0xa0 | n, ...parts)
export const octets = (...parts: readonly Uint8Array[]): Buffer => der(0x04, ...parts)
export const bits = (...parts: readonly Uint8Array[]): Buffer => der(0x03, Buffer.of(0), ...parts)

export function integer(value: number | Uint8Array): Buffer {
  let bytes = typeof value === 'number' ? Buffer.from(value.toString(16).padStart(8, '0'), 'hex') : Buffer.from(value)
  while (bytes.length > 1 && bytes[0] === 0) bytes = bytes.subarray(1)
  return der(0x02, ...(bytes[0]! >= 0x80 ? [Buffer.of(0)] : []), bytes)
}

export function oid(text: string): Buffer {
  const [first, second, ...rest] = text.split('.').map(Number)
  const groups = [40 * first! + second!, ...rest].map((value) => {
    const out = [value % 128]
    for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) out.unshift(128 + (left % 128))
    return out
  })
  return der(0x06, Buffer.from(groups.flat()))
}

/** `YYYYMMDDHHMMSSZ`. */
export const generalTime = (atMs: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(atMs).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`))
