/** Sets a key, or removes it where the value is null. */
export type Change = readonly [key: string, value: Uint8Array | null]

/** The little that a chain asks of a database: keys in order, and changes that happen together or not at all. */
export interface KeyValues {
  get(key: string): Promise<Uint8Array | null>
  /** Keys from `from` on and below `to`, ascending. */
  keys(from: string, to: string): Promise<readonly string[]>
  write(changes: readonly Change[]): Promise<void>
  close(): Promise<void>
}
