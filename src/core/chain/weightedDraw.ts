/** Picks by weight: of n tickets in a row, entry i holds as many as it weighs. */
export interface WeightedDraw {
  readonly total: bigint
  /** The entry that holds ticket `number` mod total. Its order is that of the weights: give them by ascending key. */
  at(number: bigint): number
}

/** Null if nothing has weight: there is nobody to draw. */
export function weightedDraw(weights: readonly bigint[]): WeightedDraw | null {
  const ends: bigint[] = []
  let total = 0n
  for (const weight of weights) {
    if (weight < 0n) throw new RangeError('a weight is below 0')
    total += weight
    ends.push(total)
  }
  if (total === 0n) return null
  return { total, at: (number) => firstAbove(ends, number % total) }
}

/** The first entry whose tickets end above this one; those of weight 0 end where the one before them does. */
function firstAbove(ends: readonly bigint[], ticket: bigint): number {
  let [low, high] = [0, ends.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! > ticket) high = middle
    else low = middle + 1
  }
  return low
}
