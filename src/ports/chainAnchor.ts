/** A final block of a chain. */
export interface FinalBlock {
  /** Which chain it is, by a name that others can look it up under. */
  readonly chain: string
  readonly height: number
  readonly hash: Uint8Array
}

/** The chain that runs are tied to: what was drawn with a block was not drawn before it (§10). */
export interface ChainAnchor {
  /** The latest final block that is known, at once: no run waits for a chain. Null where none is known, or none of late. */
  latest(): FinalBlock | null
}
