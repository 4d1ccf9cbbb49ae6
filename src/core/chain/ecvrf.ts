import { sha512 } from '@noble/hashes/sha2.js'
import { concatBytes, equalBytes } from '../bytes/bytes.ts'
import { KEY_BYTES } from '../bytes/ed25519.ts'

export const PROOF_BYTES = 80
export const BETA_BYTES = 64

/** A verifiable random function: who holds the key can make one output of an input, and prove it to anybody. */
export interface Vrf {
  keyFrom(secret: Uint8Array): VrfKey
  /** beta, 64 bytes; null if the proof is not the one of this key and alpha, or not in its only spelling. */
  verify(publicKey: Uint8Array, alpha: Uint8Array, proof: Uint8Array): Uint8Array | null
}

/** A key: the secret never leaves the closure. */
export interface VrfKey {
  readonly publicKey: Uint8Array
  /** beta without a proof, which costs more: a leader needs proofs only of the slots it wins. */
  evaluate(alpha: Uint8Array): Uint8Array
  prove(alpha: Uint8Array): Uint8Array
}

/** What the function needs of edwards25519, whichever library does it. Scalars lie between 1 and L - 1. */
export interface EdwardsPoints<Point> {
  /** A point of order L in its canonical encoding, or null: no torsion, so that all libraries agree. */
  decode(bytes: Uint8Array): Point | null
  /** Eight times the point that any 32 bytes may spell; null if they spell none, or one of small order. */
  decodeTimesEight(bytes: Uint8Array): Point | null
  encode(point: Point): Uint8Array
  /** By a secret: in constant time as far as the library can. */
  times(point: Point, secret: bigint): Point
  timesPublic(point: Point, scalar: bigint): Point
  baseTimes(secret: bigint): Point
  minus(a: Point, b: Point): Point
  timesEight(point: Point): Point
}

/** Order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const SUITE = 0x03

/** ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381, over the points of a library. */
export function ecvrf<Point>(points: EdwardsPoints<Point>): Vrf {
  const toCurve = (publicKey: Uint8Array, alpha: Uint8Array): Point => {
    for (let tries = 0; tries < 256; tries++) {
      const hash = suiteHash(0x01, publicKey, alpha, Uint8Array.of(tries))
      const point = points.decodeTimesEight(hash.subarray(0, KEY_BYTES))
      if (point !== null) return point
    }
    throw new Error('no point of the curve in 256 tries: the hash is broken')
  }
  const challengeOf = (publicKey: Uint8Array, ...rest: readonly Point[]): Uint8Array =>
    suiteHash(0x02, publicKey, ...rest.map(points.encode)).subarray(0, 16)
  const outputOf = (gamma: Point): Uint8Array => suiteHash(0x03, points.encode(points.timesEight(gamma)))

  const keyFrom = (secret: Uint8Array): VrfKey => {
    const { scalar, prefix } = expand(secret)
    const publicKey = points.encode(points.baseTimes(scalar))
    return {
      publicKey,
      evaluate: (alpha) => outputOf(points.times(toCurve(publicKey, alpha), scalar)),
      prove(alpha) {
        const h = toCurve(publicKey, alpha)
        const gamma = points.times(h, scalar)
        const nonce = numberLe(sha512(concatBytes(prefix, points.encode(h)))) % L
        const c = challengeOf(publicKey, h, gamma, points.baseTimes(nonce), points.times(h, nonce))
        return concatBytes(points.encode(gamma), c, bytesLe((nonce + numberLe(c) * scalar) % L))
      },
    }
  }

  const verify = (publicKey: Uint8Array, alpha: Uint8Array, proof: Uint8Array): Uint8Array | null => {
    if (publicKey.length !== KEY_BYTES || proof.length !== PROOF_BYTES) return null
    const [c, s] = [numberLe(proof.subarray(32, 48)), numberLe(proof.subarray(48))]
    if (c === 0n || s === 0n || s >= L) return null
    const y = points.decode(publicKey)
    const gamma = points.decode(proof.subarray(0, 32))
    if (y === null || gamma === null) return null
    const h = toCurve(publicKey, alpha)
    const u = points.minus(points.baseTimes(s), points.timesPublic(y, c))
    const v = points.minus(points.timesPublic(h, s), points.timesPublic(gamma, c))
    return equalBytes(challengeOf(publicKey, h, gamma, u, v), proof.subarray(32, 48)) ? outputOf(gamma) : null
  }
  return { keyFrom, verify }
}

const suiteHash = (step: number, ...parts: readonly Uint8Array[]): Uint8Array =>
  sha512(concatBytes(Uint8Array.of(SUITE, step), ...parts, Uint8Array.of(0)))

/** The scalar and the prefix of an Ed25519 secret (RFC 8032 §5.1.5); the scalar mod L, which is all that counts for points of order L. */
function expand(secret: Uint8Array): { readonly scalar: bigint; readonly prefix: Uint8Array } {
  if (secret.length !== KEY_BYTES) throw new RangeError('a secret has 32 bytes')
  const hash = sha512(secret)
  const low = hash.slice(0, 32)
  low[0]! &= 0xf8
  low[31] = (low[31]! & 0x7f) | 0x40
  return { scalar: numberLe(low) % L, prefix: hash.slice(32) }
}

function numberLe(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let number = 0n
  for (let at = bytes.length - 8; at >= 0; at -= 8) number = (number << 64n) | view.getBigUint64(at, true)
  return number
}

/** 32 bytes, least significant first: how scalars are spelled. */
export function bytesLe(number: bigint): Uint8Array {
  const out = new Uint8Array(32)
  const view = new DataView(out.buffer)
  for (let at = 0; at < 32; at += 8) view.setBigUint64(at, BigInt.asUintN(64, number >> BigInt(8 * at)), true)
  return out
}
