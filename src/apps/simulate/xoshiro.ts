import { sha256 } from '../../core/bytes/sha256.ts'

/** xoshiro128**: fast chance that a seed replays. For simulations alone. */
export interface Chance {
  /** A whole number below 2^32. */
  u32(): number
  /** At least 0, below 1. */
  unit(): number
  /** A whole number below `limit`. */
  below(limit: number): number
}

export function xoshiro(seed: number | string): Chance {
  const start = sha256(new TextEncoder().encode(`touchstone simulate ${seed}`))
  const state = new Uint32Array(start.buffer, start.byteOffset, 4).slice()
  const u32 = (): number => {
    const five = Math.imul(state[1]!, 5)
    const result = Math.imul((five << 7) | (five >>> 25), 9) >>> 0
    const shifted = state[1]! << 9
    state[2]! ^= state[0]!
    state[3]! ^= state[1]!
    state[1]! ^= state[2]!
    state[0]! ^= state[3]!
    state[2]! ^= shifted
    state[3] = (state[3]! << 11) | (state[3]! >>> 21)
    return result
  }
  return { u32, unit: () => u32() / 2 ** 32, below: (limit) => Math.floor((u32() / 2 ** 32) * limit) }
}
