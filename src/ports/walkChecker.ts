export interface Stretch {
  readonly seed: Uint8Array
  readonly blocks: number
  /** Where the lane began. */
  readonly start: Uint8Array
  /** Where the lane stood before, and after `steps` steps. */
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly steps: number
}

/** §12, on our side: walks stretches of lanes again. */
export interface WalkChecker {
  /** Where lane `lane` of a walk begins. */
  start(nonce: Uint8Array, lane: number): Uint8Array
  /** A stretch that does not lead where it says, by its index; null when all do. */
  check(stretches: readonly Stretch[], signal: AbortSignal): Promise<number | null>
}
