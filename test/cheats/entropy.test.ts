import { deflateRawSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { keptWords } from '../../src/core/proof/partners.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { seededRandomness } from '../support/seededRandomness.ts'
import { testEngine } from '../support/testEngine.ts'

/** The depth of every memory part on a card (§4.0); the claim of §7 is about this k. */
const K = 32768
const TILES = 48

let words: Uint32Array
let tiles: Uint32Array[]
beforeAll(async () => {
  const engine: TileEngine = await testEngine()
  const seed = seededRandomness(26).bytes(32)
  tiles = Array.from({ length: TILES }, (_, i) =>
    engine.tile({ seed, precision: 'int8', k: K, tileRow: i % 8, tileColumn: Math.floor(i / 8) }),
  )
  words = Uint32Array.from(tiles.flatMap((tile) => [...tile]))
})

/**
 * Collision entropy, -log2 of the chance that two samples agree: never above the Shannon entropy, and estimated without
 * bias from pairs. 49,152 samples make 18,432 agreeing pairs of a uniform 16-bit value, an error of 0.011 bits.
 */
function collisionBits(values: ArrayLike<number>): number {
  const counts = new Map<number, number>()
  for (let i = 0; i < values.length; i++) counts.set(values[i]!, (counts.get(values[i]!) ?? 0) + 1)
  let agreeing = 0
  for (const count of counts.values()) agreeing += count * (count - 1)
  return -Math.log2(agreeing / (values.length * (values.length - 1)))
}

test('attack 26: kept bits hold at least 15.9 bits of 16', () => {
  expect(collisionBits(words.map((value) => value & 0xffff))).toBeGreaterThan(15.9)
})

test('attack 26: what is not kept holds little, so keeping whole entries would be paid for twice', () => {
  expect(collisionBits(words.map((value) => value >>> 16))).toBeLessThan(8)
})

test('attack 26: neighbours do not help: differences and sums along rows and columns are as full', () => {
  const low = (i: number) => words[i]! & 0xffff
  const pairs = Array.from(words, (_, i) => i).filter((i) => i % 32 < 31 && i % 1024 < 992)
  for (const step of [1, 32, 33]) {
    expect(collisionBits(pairs.map((i) => (low(i) - low(i + step)) & 0xffff))).toBeGreaterThan(15.9)
    expect(collisionBits(pairs.map((i) => (low(i) + low(i + step)) & 0xffff))).toBeGreaterThan(15.9)
  }
})

test('attack 26: a packing prover gains nothing: the kept words do not compress', () => {
  const kept = Buffer.concat(tiles.map((tile) => Buffer.from(keptWords(tile).buffer)))
  expect(deflateRawSync(kept, { level: 9 }).length).toBeGreaterThanOrEqual(kept.length)
  const whole = Buffer.from(words.buffer)
  expect(deflateRawSync(whole, { level: 9 }).length).toBeLessThan(0.9 * whole.length)
})
