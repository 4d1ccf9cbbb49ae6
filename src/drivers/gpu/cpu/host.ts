import { MAX_K, MAX_SIZE, TILE } from '../../../core/params/constants.ts'
import { sizeRefused } from './faults.ts'
import type { Pool } from './pool.ts'

/** What a run of the device works with. */
export interface Host {
  readonly pool: Pool
  /** Bytes of fingerprints that may be kept for openings. */
  readonly keepBytes: number
}

const isPowerOfTwo = (value: number) => Number.isInteger(Math.log2(value))

/** §4.0. Powers of two: trees have a fixed depth, and work divides evenly. */
export function requireShape({ m, n, k }: { readonly m: number; readonly n: number; readonly k: number }): void {
  for (const [what, size, limit] of [
    ['m', m, MAX_SIZE],
    ['n', n, MAX_SIZE],
    ['k', k, MAX_K],
  ] as const)
    if (!isPowerOfTwo(size) || size < TILE || size > limit)
      throw sizeRefused(what, size, `a power of two from ${TILE} to ${limit}`)
}

export function requireCount(what: string, count: number): void {
  if (!Number.isInteger(count) || count < 1 || count > 2 ** 24)
    throw sizeRefused(what, count, 'a whole number from 1 to 2^24')
}

export function requireSeed(what: string, seed: Uint8Array): void {
  if (seed.length !== 32) throw sizeRefused(what, seed.length, '32 bytes')
}
