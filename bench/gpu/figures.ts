export const median = (values: readonly number[]): number => quantile(values, 0.5)

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
}

export const round = (value: number, digits = 4): number => Number(value.toFixed(digits))

/** Least-squares slope of values over their index, as a share of their mean per step. */
export function relativeSlope(values: readonly number[]): number {
  const n = values.length
  const mean = values.reduce((total, value) => total + value, 0) / n
  let over = 0
  let under = 0
  for (const [i, value] of values.entries()) {
    over += (i - (n - 1) / 2) * (value - mean)
    under += (i - (n - 1) / 2) ** 2
  }
  return over / under / mean
}
