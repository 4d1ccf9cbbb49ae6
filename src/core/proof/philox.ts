import { mulHigh } from './mix32.ts'

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
