/** Capacity left to draw, by account: a tree of sums, since every draw changes one of them. */
export class FreeCapacity {
  readonly #sums: bigint[]
  readonly #left: bigint[]
  total: bigint

  constructor(capacities: readonly bigint[]) {
    this.#left = [...capacities]
    this.#sums = new Array<bigint>(capacities.length + 1).fill(0n)
    this.total = 0n
    for (const [at, capacity] of capacities.entries()) this.#change(at, capacity)
  }

  of(at: number): bigint {
    return this.#left[at]!
  }

  subtract(at: number, amount: bigint): void {
    this.#left[at]! -= amount
    this.#change(at, -amount)
  }

  /** The account that holds a ticket below the total, in the order given. */
  at(ticket: bigint): number {
    let [place, left] = [0, ticket]
    for (let step = 2 ** Math.floor(Math.log2(this.#left.length)); step >= 1; step /= 2) {
      const sum = this.#sums[place + step]
      if (sum === undefined || sum > left) continue
      place += step
      left -= sum
    }
    return place
  }

  #change(at: number, amount: bigint): void {
    this.total += amount
    for (let i = at + 1; i < this.#sums.length; i += i & -i) this.#sums[i]! += amount
  }
}
