/** Follows from work that the validator saw and verified. */
export interface Proven<T = number> {
  readonly source: 'proven'
  readonly value: T
}

/** Timed by the validator's clock and checked by it; something else on the box could have stood in. */
export interface Measured<T = number> {
  readonly source: 'measured'
  readonly value: T
}

/** Said by the box, or by our program there, which whoever owns the box could have changed. */
export interface Claimed<T = number> {
  readonly source: 'claimed'
  readonly value: T
}

/** A value that says where it comes from: what is only claimed does not compile where it must be proven. */
export type Fact<T = number> = Proven<T> | Measured<T> | Claimed<T>
export type Source = Fact['source']

export const proven = <T>(value: T): Proven<T> => ({ source: 'proven', value })
export const measured = <T>(value: T): Measured<T> => ({ source: 'measured', value })
export const claimed = <T>(value: T): Claimed<T> => ({ source: 'claimed', value })
