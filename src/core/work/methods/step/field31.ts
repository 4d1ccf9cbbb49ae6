import { QUAD_BYTES } from '../../stepKernels.ts'

/** W12.1.1. p = 15 * 2^27 + 1. */
export const P = 15 * 2 ** 27 + 1
/** x^4 */
const ROOT = 11

/** A number of the field: the coefficients of 1, x, x^2 and x^3, with x^4 = 11, each below p. */
export type Quad = readonly [number, number, number, number]

export const ZERO: Quad = [0, 0, 0, 0]
export const ONE: Quad = [1, 0, 0, 0]

/** Products in halves of 16 bits stay below 2^53. */
const timesP = (a: number, b: number): number => ((((a * (b >>> 16)) % P) * 2 ** 16 + a * (b & 0xffff)) % P) as number

export const plus = (a: Quad, b: Quad): Quad => [
  (a[0] + b[0]) % P,
  (a[1] + b[1]) % P,
  (a[2] + b[2]) % P,
  (a[3] + b[3]) % P,
]

export const minus = (a: Quad, b: Quad): Quad => [
  (a[0] + P - b[0]) % P,
  (a[1] + P - b[1]) % P,
  (a[2] + P - b[2]) % P,
  (a[3] + P - b[3]) % P,
]

export function times(a: Quad, b: Quad): Quad {
  const out: [number, number, number, number] = [0, 0, 0, 0]
  for (let i = 0; i < 4; i++)
    for (let j = 0; j < 4; j++) {
      const product = timesP(a[i]!, b[j]!)
      out[(i + j) % 4] = (out[(i + j) % 4]! + (i + j < 4 ? product : ROOT * product)) % P
    }
  return out
}

export const isSame = (a: Quad, b: Quad): boolean => a.every((coordinate, i) => coordinate === b[i])

export function encodeQuads(quads: readonly Quad[]): Uint8Array {
  const out = new Uint8Array(QUAD_BYTES * quads.length)
  const view = new DataView(out.buffer)
  for (const [i, quad] of quads.entries())
    for (const [j, coordinate] of quad.entries()) view.setUint32(QUAD_BYTES * i + 4 * j, coordinate, true)
  return out
}

/** Whether bytes are numbers mod p, each in its one spelling. */
export function areBelowP(bytes: Uint8Array): boolean {
  if (bytes.length % 4 !== 0) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length; at += 4) if (view.getUint32(at, true) >= P) return false
  return true
}

/** Null where they are not exactly `count` numbers, each in its one spelling. */
export function decodeQuads(bytes: Uint8Array, count: number): readonly Quad[] | null {
  if (bytes.length !== QUAD_BYTES * count || !areBelowP(bytes)) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const at = (i: number) => view.getUint32(4 * i, true)
  return Array.from({ length: count }, (_, i): Quad => [at(4 * i), at(4 * i + 1), at(4 * i + 2), at(4 * i + 3)])
}

/** W12.1.3. A number of the field from 32 bytes: each coordinate is 8 of them mod p. */
export function quadFrom(hash: Uint8Array): Quad {
  const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength)
  const coordinate = (i: number) =>
    (timesP(view.getUint32(8 * i + 4, true) % P, 2 ** 32 % P) + view.getUint32(8 * i, true)) % P
  return [coordinate(0), coordinate(1), coordinate(2), coordinate(3)]
}

/** W12.1.3. The chance of the likeliest number that is drawn. */
export const NUMBER_CHANCE = ((Math.floor(2 ** 64 / P) + 1) / 2 ** 64) ** 4

/** 1, by, by^2, … */
export function powersOf(by: Quad, count: number): readonly Quad[] {
  const out: Quad[] = []
  for (let i = 0, power = ONE; i < count; i++, power = times(power, by)) out.push(power)
  return out
}
