declare const source: unique symbol

/**
 * How a value became known. Proven: follows from work that the validator saw and verified. Measured: timed and checked by
 * the validator, but something else on the box could have stood in. Inferred: concluded from what was proven. Claimed:
 * said by the box, or by our program there, which whoever owns the box could have changed.
 */
export type Provenance = 'proven' | 'measured' | 'inferred' | 'claimed'

export interface From<S extends Provenance | 'two sources'> {
  readonly [source]: S
}

/** A value keeps the source it has: to mark it again as something else gives what nobody takes. */
type One<S extends Provenance, T> = T extends From<infer O> ? (O extends S ? T : From<'two sources'>) : T & From<S>

/**
 * Every number and text in it is marked with its source, however deep it lies. Marks exist for the compiler alone: nothing
 * on the wire changes, and a claim does not compile where a proof must stand. Words of a fixed list are not marked.
 */
type Marked<S extends Provenance, T> = T extends number
  ? One<S, T>
  : T extends string
    ? string extends T
      ? One<S, T>
      : T extends From<Provenance>
        ? One<S, T>
        : T
    : T extends object
      ? { readonly [K in keyof T]: Marked<S, T[K]> }
      : T

export type Proven<T = number> = Marked<'proven', T>
export type Measured<T = number> = Marked<'measured', T>
export type Inferred<T = number> = Marked<'inferred', T>
export type Claimed<T = number> = Marked<'claimed', T>

const marks =
  <S extends Provenance>() =>
  <T>(value: T) =>
    value as Marked<S, T>

/** Only where the value follows from verified evidence. */
export const proven = marks<'proven'>()
export const measured = marks<'measured'>()
export const inferred = marks<'inferred'>()
export const claimed = marks<'claimed'>()

/** What follows from proven values alone is proven too. */
export const sum = (values: readonly Proven[]): Proven =>
  proven(values.reduce((total: number, value) => total + value, 0))

/** A value with its source beside it, where the source is told or decides what the value is worth. */
export type Fact<S extends Provenance = 'proven' | 'measured' | 'claimed'> = {
  readonly [K in S]: { readonly source: K; readonly value: Marked<K, number> }
}[S]

export const fact = <S extends Provenance>(source: S, value: number) => ({ source, value }) as Fact<S>
