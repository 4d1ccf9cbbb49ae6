import type { HostTarget } from '../core/params/hostParts.ts'

export interface StoreTask {
  readonly target: HostTarget
  readonly seed: Uint8Array
  readonly blocks: number
  /** Threads to hold ready: no walk has more lanes. */
  readonly lanes: number
}

export interface WalkTask {
  readonly nonce: Uint8Array
  readonly lanes: number
  /** Steps from mark to mark. */
  readonly stride: number
}

/** §12, on the box: lanes of hashes that walk over blocks in memory or on a disk, or of lookups. One thing at a time. */
export interface HostLanes {
  /** Forgets what was stored before. */
  store(task: StoreTask, signal: AbortSignal): Promise<{ readonly pastCache: boolean }>
  /** Resolves when the lanes are under way. */
  walk(task: WalkTask): Promise<void>
  /** Stops the lanes; the marks of each, in order. */
  halt(): Promise<readonly Uint8Array[]>
  /** Gives everything back. */
  close(): Promise<void>
}
