import { TILE } from '../params/constants.ts'
import { entryRow, MATRIX_A, MATRIX_B } from './entries.ts'
import { fingerprintTile } from './fingerprint.ts'
import { leafHash, rootFrom } from './merkle.ts'
import { keptWords } from './partners.ts'
import type { TileEngine, TileRequest } from './tileEngine.ts'

/** The definition of a tile in plain TypeScript: slow, and what every other engine must equal bit for bit. */
export const referenceEngine: TileEngine = engineOfTiles(referenceTile)

/** An engine that makes its tiles in any way, and does the rest by the definition. */
export function engineOfTiles(tile: TileEngine['tile']): TileEngine {
  return {
    tile,
    rootFrom: ({ own, partner, kept, salt, leaf, path }) => {
      const words = (request: TileRequest) => (kept ? keptWords(tile(request)) : tile(request))
      return rootFrom(leafHash(leaf, fingerprintTile(words(own), salt, partner && words(partner))), leaf, path)
    },
  }
}

function referenceTile({ seed, precision, k, tileRow, tileColumn }: TileRequest): Uint32Array {
  const rows = (matrix: 0 | 1, first: number) =>
    Array.from({ length: TILE }, (_, i) => entryRow(seed, matrix, precision, first * TILE + i, k))
  const a = rows(MATRIX_A, tileRow)
  const b = rows(MATRIX_B, tileColumn)
  const dot = precision === 'fp32' ? chainBits : exactDot
  const out = new Uint32Array(TILE * TILE)
  for (let r = 0; r < TILE; r++) for (let c = 0; c < TILE; c++) out[r * TILE + c] = dot(a[r]!, b[c]!)
  return out
}

function exactDot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum >>> 0
}

const float = new Float32Array(1)
const floatBits = new Uint32Array(float.buffer)

/** §2. k ascending, from +0, one rounding a step: no other order gives these bits. */
function chainBits(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum = fma32(a[i]!, b[i]!, sum)
  float[0] = sum
  return floatBits[0]!
}

const double = new Float64Array(1)
const bits = new BigInt64Array(double.buffer)

/**
 * §2. Fused multiply-add of float32 values without an FMA instruction: the product of two floats is exact in a double;
 * the error of the sum is found exactly, and the sum rounded to odd, so that the last rounding, to float32, is the only
 * one that counts.
 */
export function fma32(a: number, b: number, c: number): number {
  const product = a * b
  const sum = product + c
  const back = sum - product
  const error = product - (sum - back) + (c - back)
  if (error === 0) return Math.fround(sum)
  double[0] = sum
  if ((bits[0]! & 1n) === 0n) bits[0] = bits[0]! + (error > 0 === sum > 0 ? 1n : -1n)
  return Math.fround(double[0]!)
}
