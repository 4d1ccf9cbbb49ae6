import { TILE } from '../params/constants.ts'
import { mix32 } from './mix32.ts'

/** §5. The two sums mod 2^64 that stand for a tile in its leaf. */
export interface Fingerprint {
  readonly f0: bigint
  readonly f1: bigint
}

const U64 = (1n << 64n) - 1n

/** Sums of x and of x^2 mod 2^64 over u32 values, kept in doubles that stay exact: 1024 terms below 2^32 each. */
class Sums {
  #plain = 0
  #high = 0
  #cross = 0
  #low = 0

  add(x: number): void {
    const high = x >>> 16
    const low = x & 0xffff
    this.#plain += x
    this.#high += high * high
    this.#cross += high * low
    this.#low += low * low
  }

  fingerprint(): Fingerprint {
    const f1 = ((BigInt(this.#high) << 32n) + (BigInt(this.#cross) << 17n) + BigInt(this.#low)) & U64
    return { f0: BigInt(this.#plain) & U64, f1 }
  }
}

/** §5. mask(r, c) of element number 32 r + c under the round's salt. */
const mask = (element: number, salt: number): number => mix32(mix32(element) ^ salt)

/** §5. It must be non-linear: a linear sketch of C can be computed from A and B without C. */
export function fingerprintTile(tile: Uint32Array, salt: number): Fingerprint {
  const sums = new Sums()
  for (let i = 0; i < TILE * TILE; i++) sums.add(mix32((tile[i]! ^ mask(i, salt)) >>> 0))
  return sums.fingerprint()
}

/** §8. The tile together with its partner: a product shared by two memories must exchange its tiles. */
export function fingerprintBound(tile: Uint32Array, partner: Uint32Array, salt: number): Fingerprint {
  const sums = new Sums()
  for (let i = 0; i < TILE * TILE; i++) sums.add(mix32(((tile[i]! ^ mask(i, salt)) + partner[i]!) >>> 0))
  return sums.fingerprint()
}

/** §7. Kept words of a tile with those of its partner, under word 2 of Z_j. */
export function fingerprintPass(kept: Uint32Array, partner: Uint32Array, w2: number): Fingerprint {
  const sums = new Sums()
  for (let i = 0; i < kept.length; i++) sums.add(mix32(((kept[i]! ^ mask(i, w2)) + partner[i]!) >>> 0))
  return sums.fingerprint()
}
