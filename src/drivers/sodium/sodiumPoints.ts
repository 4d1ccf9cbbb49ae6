import { equalBytes } from '../../core/bytes/bytes.ts'
import { type CheckSignature, hasCanonicalY } from '../../core/bytes/ed25519.ts'
import { bytesLe, type EdwardsPoints } from '../../core/chain/ecvrf.ts'

/** The calls of libsodium that are needed, in the same form from both its builds. They throw where libsodium refuses. */
export interface SodiumCalls {
  isValidPoint(point: Uint8Array): boolean
  add(a: Uint8Array, b: Uint8Array): Uint8Array
  subtract(a: Uint8Array, b: Uint8Array): Uint8Array
  multiply(scalar: Uint8Array, point: Uint8Array): Uint8Array
  multiplyBase(scalar: Uint8Array): Uint8Array
  readonly checkSignature: CheckSignature
}

const IDENTITY = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 1 : 0))

/** Points as their encodings: libsodium decodes them at each call. */
export function sodiumPoints(sodium: SodiumCalls): EdwardsPoints<Uint8Array> {
  const times = (point: Uint8Array, scalar: bigint) => sodium.multiply(bytesLe(scalar), point)
  const twice = (point: Uint8Array) => sodium.add(point, point)
  const timesEight = (point: Uint8Array) => twice(twice(twice(point)))
  return {
    // libsodium's own rule: canonical, not of small order, on the curve and in the group of order L.
    decode: (bytes) => (sodium.isValidPoint(bytes) ? bytes.slice() : null),
    decodeTimesEight(bytes) {
      // Its addition takes a y of p or more, which spells no point here.
      if (!hasCanonicalY(bytes)) return null
      try {
        const point = timesEight(bytes)
        return equalBytes(point, IDENTITY) ? null : point
      } catch {
        return null
      }
    },
    encode: (point) => point,
    times,
    timesPublic: times,
    baseTimes: (secret) => sodium.multiplyBase(bytesLe(secret)),
    minus: (a, b) => sodium.subtract(a, b),
    timesEight,
  }
}
