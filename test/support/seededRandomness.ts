import { u32le } from '../../src/core/bytes/bytes.ts'
import { taggedHash } from '../../src/core/bytes/sha256.ts'
import type { Randomness } from '../../src/ports/randomness.ts'

/** The same bytes for the same seed, on every machine: a failing run can be run again. */
export function seededRandomness(seed: number): Randomness {
  let count = 0
  return {
    bytes: (length) => {
      const out = new Uint8Array(length)
      for (let at = 0; at < length; at += 32)
        out.set(taggedHash('test/chance', u32le(seed), u32le(count++)).subarray(0, length - at), at)
      return out
    },
  }
}

/** Uniform in [0, 1), from the same source. */
export function uniformFrom(randomness: Randomness): () => number {
  return () => {
    const bytes = randomness.bytes(4)
    return new DataView(bytes.buffer).getUint32(0, true) / 2 ** 32
  }
}
