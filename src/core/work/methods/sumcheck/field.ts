import { PAIR_BYTES } from '../../fieldKernels.ts'

/** W8.1. p = 2^61 - 1. */
export const P = 2n ** 61n - 1n

/** A number of the field: re + im i with i^2 = -1, both below p. */
export interface Pair {
  readonly re: bigint
  readonly im: bigint
}

const mod = (x: bigint): bigint => ((x % P) + P) % P

export const ZERO: Pair = { re: 0n, im: 0n }
export const plus = (a: Pair, b: Pair): Pair => ({ re: mod(a.re + b.re), im: mod(a.im + b.im) })
export const minus = (a: Pair, b: Pair): Pair => ({ re: mod(a.re - b.re), im: mod(a.im - b.im) })
export const times = (a: Pair, b: Pair): Pair => ({
  re: mod(a.re * b.re - a.im * b.im),
  im: mod(a.re * b.im + a.im * b.re),
})
export const isSame = (a: Pair, b: Pair): boolean => a.re === b.re && a.im === b.im

export function encodePairs(pairs: readonly Pair[]): Uint8Array {
  const out = new Uint8Array(PAIR_BYTES * pairs.length)
  const view = new DataView(out.buffer)
  for (const [i, { re, im }] of pairs.entries()) {
    view.setBigUint64(PAIR_BYTES * i, re, true)
    view.setBigUint64(PAIR_BYTES * i + 8, im, true)
  }
  return out
}

/** Null where they are not exactly `count` numbers, each in its one spelling. */
export function decodePairs(bytes: Uint8Array, count: number): readonly Pair[] | null {
  if (bytes.length !== PAIR_BYTES * count) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const half = (i: number) => view.getBigUint64(8 * i, true)
  const pairs = Array.from({ length: count }, (_, i) => ({ re: half(2 * i), im: half(2 * i + 1) }))
  return pairs.every(({ re, im }) => re < P && im < P) ? pairs : null
}

/** W8.3.3. A number of the field from 32 bytes: each half is 16 of them mod p. */
export function pairFrom(hash: Uint8Array): Pair {
  const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength)
  const half = (at: number) => (view.getBigUint64(at, true) + (view.getBigUint64(at + 8, true) << 64n)) % P
  return { re: half(0), im: half(16) }
}
