export interface CheckedStretch {
  readonly seed: Uint8Array
  readonly blocks: number
  /** Where the lane stood before, and after `steps` steps. */
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly steps: number
}

/** §12, on our side: walks a stretch of a lane again. */
export interface WalkChecker {
  /** Where lane `lane` of a walk begins. */
  start(nonce: Uint8Array, lane: number): Uint8Array
  check(stretch: CheckedStretch, signal: AbortSignal): Promise<boolean>
}
