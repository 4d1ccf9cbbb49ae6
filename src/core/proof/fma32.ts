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
