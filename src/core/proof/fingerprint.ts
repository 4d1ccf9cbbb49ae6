import { mix32 } from './mix32.ts'

/** §5. The two sums mod 2^64 that stand for a tile in its leaf. */
export interface Fingerprint {
  readonly f0: bigint
  readonly f1: bigint
}

/** §5. mask(r, c) of element number 32 r + c under the round's salt. */
const mask = (element: number, salt: number): number => mix32(mix32(element) ^ salt)

/**
 * §5. Sums of x and of x^2 over the 1024 elements of a tile, or its 512 kept words (§7); with `partner`, of the two together
 * (§7, §8), which two memories that share a product can only have by exchanging tiles. It must be non-linear: a linear
 * sketch of C can be computed from A and B without C. In doubles the sums stay exact: at most 1024 terms below 2^32 each.
 */
export function fingerprintTile(own: Uint32Array, salt: number, partner?: Uint32Array): Fingerprint {
  let [sum, highs, crosses, lows] = [0, 0, 0, 0]
  for (let i = 0; i < own.length; i++) {
    const x = mix32(((own[i]! ^ mask(i, salt)) + (partner?.[i] ?? 0)) >>> 0)
    const high = x >>> 16
    const low = x & 0xffff
    sum += x
    highs += high * high
    crosses += high * low
    lows += low * low
  }
  const f1 = (BigInt(highs) << 32n) + (BigInt(crosses) << 17n) + BigInt(lows)
  return { f0: BigInt(sum), f1: BigInt.asUintN(64, f1) }
}
