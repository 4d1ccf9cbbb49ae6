import { toHex } from '../../core/bytes/hex.ts'
import { PRECISION_NAMES, PRECISIONS, type Precision } from '../../core/params/precision.ts'
import { MATRIX_A, MATRIX_B } from '../../core/proof/entries.ts'
import type { NativeKernels } from './nativeKernels.ts'

/** Leaf 0 of a tile at k = 288 under the seed 0, 1, 2 … 31, as the reference has it. */
export const KNOWN_LEAVES: Readonly<Record<Precision, string>> = {
  int8: '74a35366281d9e9c31d769196582771cfff203947ea0897320cad113305b3fe2',
  fp8: 'da57bc6156e2b61e8dc4b86c06ca5950e42d9b9b6c30182a34726387ff2f045d',
  bf16: '11df8ea2f843cda0f4bb325bc4776438b9c6dfd9e556d20e7348033489c0181e',
  fp16: '476d226df632f68e6cd2c3b441c571e9fa702a1f0151d4d101b5cb21aaedb531',
  fp32: '1efddae2bef9fe764d903d5c823d13c9c16ad4684a70edc238f3199e10a6bb15',
}
export const KNOWN_TILE = { seed: Uint8Array.from({ length: 32 }, (_, i) => i), k: 288, tileRow: 2, tileColumn: 1 }

/** §2.9: entries, product, fingerprint and hash of one tile in each precision. */
export function requireKnownTiles(native: NativeKernels): void {
  const bytes = new Uint8Array(2 ** 20)
  const kernels = native.on(bytes)
  const [seed, masks, tile, fingerprint, leaf, a, b] = [0, 64, 8192, 16384, 16448, 2 ** 17, 2 ** 18]
  const { k, tileRow, tileColumn } = KNOWN_TILE
  const salt = new DataView(KNOWN_TILE.seed.buffer).getUint32(12, true)
  bytes.set(KNOWN_TILE.seed, seed)
  kernels.masks(salt, 1024, masks)
  for (const precision of PRECISION_NAMES) {
    const { code } = PRECISIONS[precision]
    const leafNow = () => {
      kernels.fingerprintTile(tile, masks, fingerprint)
      kernels.subtree(fingerprint, 0, 1, 0, 1, leaf)
      return toHex(bytes.subarray(leaf, leaf + 32))
    }
    kernels.tile(seed, code, k, tileRow, tileColumn, tile)
    const alone = leafNow()
    kernels.entries(seed, MATRIX_A, code, 32 * tileRow, 32, k, a)
    kernels.entries(seed, MATRIX_B, code, 32 * tileColumn, 32, k, b)
    kernels.product(code, a, b, k, tile)
    if (alone !== KNOWN_LEAVES[precision] || leafNow() !== alone) throw new Error(`its tile of ${precision} is wrong`)
  }
}
