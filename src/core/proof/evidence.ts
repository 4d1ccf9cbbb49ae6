/** What one device sent in one part, with the validator's own times. */
export interface DeviceEvidence {
  readonly device: number
  /** R, or in a memory part R_0 … R_(G-1) then Q_0 … Q_(P-1), or in a link part Q. */
  readonly roots: readonly Uint8Array[]
  /** Arrival of each root, microseconds of the validator's monotonic clock since T0 of the part. */
  readonly arrivalsUs: readonly number[]
  /** Siblings, opening after opening. */
  readonly openings: Uint8Array
}

/** Everything said in one part (§4.2 to §4.4). */
export interface PartEvidence {
  readonly s: Uint8Array
  /** Z_0 of a memory part, and when it was written. */
  readonly z: Uint8Array | null
  readonly zSentUs: number | null
  readonly nonce: Uint8Array
  readonly devices: readonly DeviceEvidence[]
}
