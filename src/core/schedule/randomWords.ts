import { u32le } from '../bytes/bytes.ts'
import { taggedHash } from '../bytes/sha256.ts'

/** Gives the next random u32. */
export type RandomWords = () => number

/** As many words as a plan needs from 32 random bytes: SHA-256 in counter mode. */
export function randomWords(seed: Uint8Array): RandomWords {
  let block: DataView = new DataView(new ArrayBuffer(0))
  let at = 0
  let counter = 0
  return () => {
    if (at === block.byteLength) {
      block = new DataView(taggedHash('touchstone/plan', seed, u32le(counter++)).buffer)
      at = 0
    }
    at += 4
    return block.getUint32(at - 4, true)
  }
}

/** Uniform in 0 … limit - 1: a word in the last, incomplete stretch is thrown away. */
export function drawBelow(limit: number, words: RandomWords): number {
  const whole = 2 ** 32 - (2 ** 32 % limit)
  for (;;) {
    const word = words()
    if (word < whole) return word % limit
  }
}

export function shuffled<T>(items: readonly T[], words: RandomWords): T[] {
  const out = [...items]
  for (let i = out.length - 1; i > 0; i--) {
    const j = drawBelow(i + 1, words)
    const kept = out[i]!
    out[i] = out[j]!
    out[j] = kept
  }
  return out
}
