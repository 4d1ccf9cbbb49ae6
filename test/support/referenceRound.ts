import { words32 } from '../../src/core/bytes/bytes.ts'
import { TILE } from '../../src/core/params/constants.ts'
import { fingerprintTile } from '../../src/core/proof/fingerprint.ts'
import { leafHash } from '../../src/core/proof/merkle.ts'
import type { PartShape } from '../../src/core/proof/part.ts'
import { bindPartner, keptWords, passPartner } from '../../src/core/proof/partners.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'

export type ProductShape = Pick<PartShape, 'precision' | 'm' | 'n' | 'k'>

/** All tiles of C = A * B^T, tile by tile (§5 numbering). */
export function productTiles(
  seed: Uint8Array,
  { precision, m, n, k }: ProductShape,
  engine: TileEngine,
): Uint32Array[] {
  const columns = n / TILE
  return Array.from({ length: (m / TILE) * columns }, (_, tile) =>
    engine.tile({ seed, precision, k, tileRow: Math.floor(tile / columns), tileColumn: tile % columns }).slice(),
  )
}

/** Leaves of a plain round (§5); a fill round of §7 has the same leaves. */
export function roundLeaves(seed: Uint8Array, tiles: readonly Uint32Array[]): Uint8Array[] {
  const salt = words32(seed)[3]!
  return tiles.map((tile, index) => leafHash(index, fingerprintTile(tile, salt)))
}

/** Leaves of a bind round (§8). */
export function bindLeaves(seed: Uint8Array, tiles: readonly Uint32Array[]): Uint8Array[] {
  const salt = words32(seed)[3]!
  return tiles.map((tile, index) => {
    const partner = tiles[bindPartner(index, seed, tiles.length)]!
    return leafHash(index, fingerprintTile(tile, salt, partner))
  })
}

/** Leaves of one pass over a fill (§7, §8), u ascending; `partners` is the fill partners are taken from. */
export function passLeaves(z: Uint8Array, fill: readonly Uint32Array[], partners = fill): Uint8Array[] {
  const w2 = words32(z)[2]!
  const own = fill.map(keptWords)
  const others = partners === fill ? own : partners.map(keptWords)
  return own.map((kept, u) => leafHash(u, fingerprintTile(kept, w2, others[passPartner(u, z, others.length)]!)))
}
