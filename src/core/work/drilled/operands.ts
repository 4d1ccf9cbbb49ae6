import { words32 } from '../../bytes/bytes.ts'
import { PRECISIONS } from '../../params/precision.ts'
import type { Matrix } from '../../proof/entries.ts'

const LANES = 8
const LIMIT = PRECISIONS.int8.maxA

/**
 * Rows of a matrix of §3 in int8, byte by byte as `entryRow` has them; k is a multiple of 8 and the counter stays below
 * 2^32. The blocks are those of `philox`, written out: through calls and arrays they take six times as long.
 */
export function operandRows(seed: Uint8Array, matrix: Matrix, first: number, rows: number, k: number): Uint8Array {
  const [w0 = 0, w1 = 0, w2 = 0] = words32(seed)
  const out = new Int8Array(rows * k)
  const start = (first * k) / LANES
  for (let at = 0; at < out.length; at += LANES) {
    let [c0, c1, c2, c3] = [start + at / LANES, 0, matrix as number, w2]
    for (let round = 0; round < 10; round++) {
      const high0 = highOf(0xd251, 0x1f53, c0)
      const high1 = highOf(0xcd9e, 0x8d57, c2)
      const low0 = Math.imul(0xd2511f53, c0)
      const low1 = Math.imul(0xcd9e8d57, c2)
      c0 = high1 ^ c1 ^ (w0 + Math.imul(round, 0x9e3779b9))
      c2 = high0 ^ c3 ^ (w1 + Math.imul(round, 0xbb67ae85))
      c1 = low1
      c3 = low0
    }
    put(out, at, c0)
    put(out, at + 2, c1)
    put(out, at + 4, c2)
    put(out, at + 6, c3)
  }
  return new Uint8Array(out.buffer)
}

/** The high word of a product of u32; the first factor comes in halves. */
function highOf(high: number, low: number, factor: number): number {
  const [bottom, top] = [factor & 0xffff, factor >>> 16]
  const middle = Math.imul(high, bottom) + (Math.imul(low, bottom) >>> 16)
  const other = Math.imul(low, top) + (middle & 0xffff)
  return Math.imul(high, top) + (middle >>> 16) + (other >>> 16)
}

/** Two lanes of a word as entries. */
function put(out: Int8Array, at: number, word: number): void {
  out[at] = (((word & 0xffff) * (2 * LIMIT + 1)) >>> 16) - LIMIT
  out[at + 1] = (((word >>> 16) * (2 * LIMIT + 1)) >>> 16) - LIMIT
}
