import { MAX_SIZE, TILE } from '../../src/core/params/constants.ts'
import { PRECISIONS, type Precision } from '../../src/core/params/precision.ts'
import type { TileRequest } from '../../src/core/proof/tileEngine.ts'
import { seededRandomness } from './seededRandomness.ts'

/** Any seed, any place, any k up to `deepest`. */
export function randomTiles(precision: Precision, count: number, deepest: number): TileRequest[] {
  const { bytes } = seededRandomness(1 + PRECISIONS[precision].code)
  return Array.from({ length: count }, () => {
    const drawn = new DataView(bytes(8).buffer)
    const place = (at: number) => drawn.getUint16(at, true) % (MAX_SIZE / TILE)
    return {
      seed: bytes(32),
      precision,
      k: TILE * (1 + (drawn.getUint16(4, true) % (deepest / TILE))),
      tileRow: place(0),
      tileColumn: place(2),
    }
  })
}

export const sameWords = (a: Uint32Array, b: Uint32Array): boolean => a.every((word, i) => word === b[i])
