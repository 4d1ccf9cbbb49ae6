const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

export const bitsOf = (value: number): number => {
  float[0] = value
  return bits[0]!
}

export const floatOf = (pattern: number): number => {
  bits[0] = pattern
  return float[0]!
}

/** Every finite float is an integer times 2^-149. */
const SCALE = 149

function integerOf(pattern: number): bigint {
  const exponent = (pattern >>> 23) & 0xff
  const fraction = BigInt(pattern & 0x7fffff)
  const size = exponent === 0 ? fraction : (fraction | (1n << 23n)) << BigInt(exponent - 1)
  return pattern >>> 31 ? -size : size
}

/** a * b + c over finite floats with whole numbers only, rounded once, to nearest even: the definition itself. */
export function exactFma(a: number, b: number, c: number): number {
  const product = integerOf(a) * integerOf(b)
  const sum = product + (integerOf(c) << BigInt(SCALE))
  if (sum === 0n) return zeroSign(a, b, c)
  return (sum < 0n ? 0x80000000 : 0) + roundToFloat(sum < 0n ? -sum : sum)
}

/** An exact zero is +0 unless both terms are negative, which only -0 and -0 can be. */
const zeroSign = (a: number, b: number, c: number): number => ((a ^ b) >>> 31 === 1 && c >>> 31 === 1 ? 0x80000000 : 0)

/** `size` in units of 2^-298, as the bit pattern of the nearest float. */
function roundToFloat(size: bigint): number {
  const length = size.toString(2).length
  // Normal numbers keep 24 bits; below 2^-126 the last place stays at 2^-149.
  const drop = BigInt(Math.max(length - 24, SCALE))
  const kept = size >> drop
  const rest = size - (kept << drop)
  const half = 1n << (drop - 1n)
  const rounded = rest > half || (rest === half && kept & 1n) ? kept + 1n : kept
  // A carry into the next exponent, and from denormal to normal, falls out of the addition.
  const exponent = Number(drop) - SCALE
  const pattern = exponent === 0 ? rounded : (BigInt(exponent) << 23n) + rounded
  return pattern >= 0x7f800000n ? 0x7f800000 : Number(pattern)
}
