import type { RoundsStart } from './hostRounds.ts'

/** Where the blocks lie: in shared memory, or in a file that has no name. */
export type Blocks =
  | { readonly buffers: readonly SharedArrayBuffer[]; readonly perBuffer: number }
  | { readonly writeFd: number; readonly readFd: number }

/** What a lane's thread is asked. `stop` is one shared word: not 0 means enough. */
export type LaneJob =
  | { readonly kind: 'fill'; readonly blocks: Blocks; readonly seed: Uint8Array; readonly from: number }
  | { readonly kind: 'walk'; readonly blocks: Blocks; readonly start: Uint8Array; readonly stride: number }
  | { readonly kind: 'ready'; readonly start: RoundsStart }
  | { readonly kind: 'lookups'; readonly nonce: Uint8Array; readonly lane: number; readonly stride: number }

export interface LaneMessage {
  readonly job: LaneJob
  readonly count: number
  /** How many lanes share a fill. */
  readonly lanes: number
  readonly stop: SharedArrayBuffer
}

export interface LaneAnswer {
  readonly marks: Uint8Array | null
  readonly error: string | null
}
