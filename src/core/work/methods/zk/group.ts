import { interleavedMSMUnsafe } from '@noble/curves/abstract/curve.js'
import { ristretto255, ristretto255_hasher } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { ascii, concatBytes, u32le } from '../../../bytes/bytes.ts'

/** W10.1. The group ristretto255; numbers are mod its order. */
const { Point } = ristretto255
export type Point = InstanceType<typeof ristretto255.Point>

export const ORDER = Point.Fn.ORDER
export const POINT_BYTES = 32
export const SCALAR_BYTES = 32

export const reduce = (x: bigint): bigint => ((x % ORDER) + ORDER) % ORDER
export const inverse = (x: bigint): bigint => Point.Fn.inv(x)

/** The sum of a[i] * b[i]. */
export function dot(a: readonly bigint[], b: readonly bigint[]): bigint {
  let sum = 0n
  for (const [i, x] of a.entries()) sum += x * b[i]!
  return reduce(sum)
}

/** Digits of a scalar that are met at once: tables of 4 points each pay for themselves at once. */
const WINDOW = 4

/** The sum of scalars[i] * points[i]. Its time depends on the scalars. */
export function combine(points: readonly Point[], scalars: readonly bigint[]): Point {
  const used = points.flatMap((point, i): [Point, bigint][] => {
    const scalar = reduce(scalars[i]!)
    // Small negative numbers are small numbers of the opposite point.
    if (2n * scalar > ORDER) return [[point.negate(), ORDER - scalar]]
    return scalar === 0n ? [] : [[point, scalar]]
  })
  const times = interleavedMSMUnsafe(
    Point,
    used.map(([point]) => point),
    WINDOW,
  )
  return times(used.map(([, scalar]) => scalar))
}

export const encodePoint = (point: Point): Uint8Array => point.toBytes()

/** Null for bytes that are not the one spelling of a point. */
export function decodePoint(bytes: Uint8Array): Point | null {
  try {
    return Point.fromBytes(bytes)
  } catch {
    return null
  }
}

/** Null where one of them is not. */
export function decodePoints(all: readonly Uint8Array[]): readonly Point[] | null {
  const points: Point[] = []
  for (const bytes of all) {
    const point = decodePoint(bytes)
    if (!point) return null
    points.push(point)
  }
  return points
}

export function encodeScalar(scalar: bigint): Uint8Array {
  const out = new Uint8Array(SCALAR_BYTES)
  for (let i = 0, rest = scalar; i < SCALAR_BYTES; i++, rest >>= 8n) out[i] = Number(rest & 255n)
  return out
}

const fromLittleEndian = (bytes: Uint8Array): bigint => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)

/** Null for a number of the order or more. */
export function decodeScalar(bytes: Uint8Array): bigint | null {
  const scalar = fromLittleEndian(bytes)
  return bytes.length === SCALAR_BYTES && scalar < ORDER ? scalar : null
}

/** W10.1.3. 64 bytes are a number whose bias nobody can see. */
export const wideScalar = (bytes: Uint8Array): bigint => fromLittleEndian(bytes) % ORDER

/** W10.1.4. A point of which nobody knows how it follows from others. */
export const namedPoint = (name: string, of: Uint8Array, index: number): Point =>
  ristretto255_hasher.deriveToCurve!(sha512(concatBytes(ascii(`tsz1/point/${name}`), of, u32le(index))))
