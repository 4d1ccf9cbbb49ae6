/** A share between 0 and 1, exactly: the part of slots (or tasks) that a lottery lets somebody win. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** T(w, W): who holds w of the weight W wins if its lottery number is below. */
export type Threshold = (weight: bigint, total: bigint) => bigint

/** Binary digits behind the point: 64 more than a lottery number has, so that rounding never reaches it. */
const DIGITS = 320n
const ONE = 1n << DIGITS

/**
 * T(w, W) = 2^256 (1 - (1 - f)^(w/W)) in whole numbers (§3.3). The series and its roundings are the definition: every node
 * must find the same number, to the last bit.
 */
export function thresholdFor(f: Fraction): Threshold {
  if (f.numerator < 0n || f.numerator >= f.denominator) throw new RangeError('f must be at least 0 and below 1')
  const logarithm = minusLogOfRest(f)
  return (weight, total) => {
    if (total <= 0n || weight < 0n || weight > total) throw new RangeError('a weight must lie between 0 and the total')
    return oneMinusExp((logarithm * weight) / total) >> (DIGITS - 256n)
  }
}

/**
 * When a winner's ticket came in, on a clock by which an account of weight w comes at the rate w/W: -ln(1 - y/2^256) W/w,
 * times 2^320 (§3.5). The first of several parts of an account comes as early as the whole, so that splitting gains nothing.
 */
export const arrivalOf = (number: bigint, weight: bigint, total: bigint): bigint =>
  (minusLogOfRest({ numerator: number, denominator: 1n << 256n }) * total) / weight

/** -ln(1 - f) = 2 artanh(z) with z = f / (2 - f). */
function minusLogOfRest({ numerator, denominator }: Fraction): bigint {
  const z = (numerator * ONE) / (2n * denominator - numerator)
  const square = (z * z) >> DIGITS
  let sum = 0n
  for (let power = z, k = 1n; power > 0n; power = (power * square) >> DIGITS, k += 2n) sum += power / k
  return 2n * sum
}

/** 1 - e^-x = x - x^2/2! + x^3/3! - ... */
function oneMinusExp(x: bigint): bigint {
  let sum = x
  let term = x
  for (let k = 2n; ; k++) {
    // The shift floors and the division cuts towards zero: part of the definition, since terms have both signs.
    term = -((term * x) >> DIGITS) / k
    if (term === 0n) return sum
    sum += term
  }
}
