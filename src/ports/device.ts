import type { NvidiaEvidence } from '../core/attest/nvidiaDevice.ts'
import type { OwnInventory } from '../core/inventory/inventory.ts'
import type { FillTask, SeriesTask } from '../core/proof/deviceTask.ts'
import type { JointPasses } from '../core/proof/jointPasses.ts'

export type { FillTask, SeriesTask }

/** What a device says of itself. Claims: shown as such, used to size the question, never to accept an answer. */
export type DeviceFacts = OwnInventory['devices'][number]

/**
 * §7 and §8: passes over the fill. With `peer`, partners come from that device's fill (link part). With `joint`, each pass but
 * the first follows from those of all devices: who has a root puts it there, and goes on when all have.
 */
export interface PassTask {
  readonly passes: number
  readonly start: Uint8Array
  readonly peer?: Device
  readonly joint?: { readonly passes: JointPasses; readonly place: number }
}

/** A leaf of the tree of one round (or pass): which round or pass, which tile. */
export interface LeafPosition {
  readonly round: number
  readonly tile: number
}

/** Bytes a second between the host's memory and the device's. */
export interface TransferRates {
  readonly pinned: { readonly toCard: number; readonly toHost: number }
  readonly pageable: { readonly toCard: number; readonly toHost: number }
}

/** Called once per root, in order, as soon as the root is known to the host. */
export type OnRoot = (root: Uint8Array) => void

/**
 * A thing that multiplies. One series, fill or set of passes runs at a time; what it leaves behind for the openings stays
 * until the next one starts (a fill stays through passes and link passes) or `release` is called. Several devices run, and
 * open, at the same time.
 * Paths come back as siblings from leaf to root, 32 bytes each, one opening after the other, no separators.
 */
export interface Device {
  readonly facts: DeviceFacts
  runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void>
  /** Paths in the trees of the last series. */
  openSeries(asked: readonly LeafPosition[], signal: AbortSignal): Promise<Uint8Array>
  fill(task: FillTask, onRoot: OnRoot, signal: AbortSignal): Promise<void>
  runPasses(task: PassTask, onRoot: OnRoot, signal: AbortSignal): Promise<void>
  /**
   * Paths of the last passes; `tile` is u over the whole fill. Each opening is the path of u in the pass (within its kept
   * round, then over the rounds' roots, padded to a power of two), followed by the §5 path of u in its kept round.
   */
  openPasses(asked: readonly LeafPosition[], signal: AbortSignal): Promise<Uint8Array>
  /**
   * For comparison only: the product alone, `rounds` times over the operands of the first seed, nothing committed.
   * Microseconds for all of them, operands already in place.
   */
  runBare?(task: SeriesTask, signal: AbortSignal): Promise<number>
  /** For comparison only: how fast the host's memory is copied to and from a card. */
  transfers?(signal: AbortSignal): Promise<TransferRates>
  /**
   * Everything of coming series that needs no seed: memory, kernels, a self check. A device without it does that work when
   * the series starts, and the clock of the validator pays for it.
   */
  prepare?(shapes: readonly Omit<SeriesTask, 'seed'>[], signal: AbortSignal): Promise<void>
  /** Claims of this moment: clocks, temperature, power, throttle reasons, other processes. */
  telemetry?(): Promise<Readonly<Record<string, string | number | boolean>>>
  /**
   * What the vendor has the device sign for a nonce (§9), or null where it could not. Only a device that can says
   * `attests` in its details.
   */
  attest?(nonce: Uint8Array): Promise<NvidiaEvidence | null>
  /** Gives back everything held for openings, the fill included. */
  release(): Promise<void>
  close(): Promise<void>
}
