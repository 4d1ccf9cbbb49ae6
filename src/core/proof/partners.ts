import { words32 } from '../bytes/bytes.ts'
import { KEPT_TILE_WORDS } from '../params/constants.ts'
import { mix32, mulHigh } from './mix32.ts'

const partner = (tile: number, first: number, second: number, tiles: number): number =>
  mulHigh(mix32((mix32((tile ^ first) >>> 0) ^ second) >>> 0), tiles)

/** §7. Partner of tile u in a pass: anywhere in the memory, known only once Z_j is. */
export function passPartner(u: number, z: Uint8Array, tiles: number): number {
  const words = words32(z)
  return partner(u, words[0]!, words[1]!, tiles)
}

/** §8. Partner of a tile inside its own round, for the bind part. */
export function bindPartner(tile: number, seed: Uint8Array, tiles: number): number {
  const words = words32(seed)
  return partner(tile, words[4]!, words[5]!, tiles)
}

/** §7. The low 16 bits of every entry, even column in the low half: uniform bits, so nothing shorter holds them. */
export function keptWords(tile: Uint32Array): Uint32Array {
  const words = new Uint32Array(KEPT_TILE_WORDS)
  for (let i = 0; i < words.length; i++) words[i] = (tile[2 * i]! & 0xffff) | (tile[2 * i + 1]! << 16)
  return words
}
