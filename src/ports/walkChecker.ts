import type { HostTarget } from '../core/params/hostParts.ts'

/** One lane of a walk. */
export interface LaneOfWalk {
  readonly target: HostTarget
  /** Of the blocks; a processor has none. */
  readonly seed: Uint8Array
  readonly blocks: number
  readonly nonce: Uint8Array
  readonly lane: number
}

export interface Stretch extends LaneOfWalk {
  /** Where the lane stood before; null at its beginning. */
  readonly from: Uint8Array | null
  /** Where it stood after `steps` steps. */
  readonly to: Uint8Array
  readonly steps: number
}

/** §12, on our side: walks stretches of lanes again. */
export interface WalkChecker {
  /** A stretch that does not lead where it says, by its index; null when all do. */
  check(stretches: readonly Stretch[], signal: AbortSignal): Promise<number | null>
}
