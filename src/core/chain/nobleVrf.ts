import { ed25519 } from '@noble/curves/ed25519.js'
import { type EdwardsPoints, ecvrf, type Vrf } from './ecvrf.ts'

const { Point } = ed25519
type NoblePoint = ReturnType<typeof Point.fromBytes>

function decodeAny(bytes: Uint8Array): NoblePoint | null {
  try {
    return Point.fromBytes(bytes)
  } catch {
    return null
  }
}

/** The points of noble, for the function and for the tests that compare libraries. */
export const noblePoints: EdwardsPoints<NoblePoint> = {
  decode(bytes) {
    const point = decodeAny(bytes)
    return point === null || point.is0() || !point.isTorsionFree() ? null : point
  },
  decodeTimesEight(bytes) {
    const point = decodeAny(bytes)?.clearCofactor() ?? null
    return point === null || point.is0() ? null : point
  },
  encode: (point) => point.toBytes(),
  times: (point, secret) => point.multiply(secret),
  timesPublic: (point, scalar) => point.multiplyUnsafe(scalar),
  baseTimes: (secret) => Point.BASE.multiply(secret),
  minus: (a, b) => a.subtract(b),
  timesEight: (point) => point.clearCofactor(),
}

/** In JavaScript alone: runs everywhere, also in a browser, and is the slowest. */
export const nobleVrf: Vrf = ecvrf(noblePoints)
