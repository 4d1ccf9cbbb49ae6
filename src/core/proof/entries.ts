import { words32 } from '../bytes/bytes.ts'
import { PRECISIONS, type Precision } from '../params/precision.ts'
import { mulHigh } from './mix32.ts'

export const MATRIX_A = 0
export const MATRIX_B = 1
export type Matrix = typeof MATRIX_A | typeof MATRIX_B

/**
 * §3. One row of A (m x k) or of the transposed B (n x k), as numbers. An entry depends on the seed and on its own place
 * alone; never on i + j, a row alone or anything of low rank, which is what lets others' matrices be forged.
 */
export function entryRow(seed: Uint8Array, matrix: Matrix, precision: Precision, row: number, k: number): Float64Array {
  const [w0, w1, w2] = words32(seed)
  const bounds = PRECISIONS[precision]
  const perBlock = precision === 'fp32' ? 4 : 8
  const limit = matrix === MATRIX_A ? bounds.maxA : bounds.maxB
  const out = new Float64Array(k)
  const block = new Uint32Array(4)
  let current = -1
  for (let i = 0; i < k; i++) {
    const entry = row * k + i
    const at = Math.floor(entry / perBlock)
    if (at !== current) philox([at >>> 0, Math.floor(at / 2 ** 32) >>> 0, matrix, w2!], w0!, w1!, block)
    current = at
    out[i] = perBlock === 4 ? fraction(block[entry % 4]!) : integer(lane(block, entry % 8), limit)
  }
  return out
}

const lane = (block: Uint32Array, index: number): number => (block[index >> 1]! >>> ((index & 1) * 16)) & 0xffff

const integer = (value: number, limit: number): number => Math.floor((value * (2 * limit + 1)) / 65536) - limit

/** A full 24-bit significand in [-1, 1). */
const fraction = (word: number): number => (word >>> 8) * 2 ** -23 - 1

/** §3. Philox4x32-10 at one counter, written into `out`: any block is computed alone. */
export function philox(
  counter: readonly [number, number, number, number],
  key0: number,
  key1: number,
  out: Uint32Array,
): void {
  let [c0, c1, c2, c3] = counter
  let k0 = key0
  let k1 = key1
  for (let round = 0; round < 10; round++) {
    const high0 = mulHigh(0xd2511f53, c0)
    const high1 = mulHigh(0xcd9e8d57, c2)
    const low0 = Math.imul(0xd2511f53, c0) >>> 0
    const low1 = Math.imul(0xcd9e8d57, c2) >>> 0
    c0 = (high1 ^ c1 ^ k0) >>> 0
    c1 = low1
    c2 = (high0 ^ c3 ^ k1) >>> 0
    c3 = low0
    k0 = (k0 + 0x9e3779b9) >>> 0
    k1 = (k1 + 0xbb67ae85) >>> 0
  }
  out[0] = c0
  out[1] = c1
  out[2] = c2
  out[3] = c3
}
