/** §5. A bijection of u32 that no linear shortcut passes through. */
export function mix32(value: number): number {
  let x = value
  x ^= x >>> 16
  x = Math.imul(x, 0x7feb352d)
  x ^= x >>> 15
  x = Math.imul(x, 0x846ca68b)
  x ^= x >>> 16
  return x >>> 0
}

/** High 32 bits of the 64-bit product of two u32: floor(a * b / 2^32), exact. */
export function mulHigh(a: number, b: number): number {
  const aLow = a & 0xffff
  const aHigh = a >>> 16
  const bLow = b & 0xffff
  const bHigh = b >>> 16
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16)
  const carry = aLow * bHigh + (middle % 0x10000)
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000)) >>> 0
}
