import type { Pointer } from '../../../core/engine/kernels.ts'
import type { WasmMemory, WasmModule } from '../../../core/engine/webAssembly.ts'

/** What a worker thread is started with. */
export interface WorkerStart {
  readonly module: WasmModule
  readonly index: number
  readonly threads: number
  /** Cancel flag, barrier and work counter, see control.ts. */
  readonly control: SharedArrayBuffer
}

/** Kept words of a fill (§7) in buffers of at most `tilesPerBuffer` tiles: no single buffer need hold the whole fill. */
export interface FillBuffers {
  readonly buffers: readonly SharedArrayBuffer[]
  readonly tilesPerBuffer: number
  readonly tiles: number
}

export interface RoundsLayout {
  readonly seed: Pointer
  readonly masks: Pointer
  readonly a: Pointer
  readonly b: Pointer
  /** All tiles of C, for bind rounds alone; elsewhere a tile is forgotten once it is fingerprinted. */
  readonly c: Pointer
  readonly fingerprints: Pointer
  readonly tree: Pointer
  /** One tile and its kept words for each thread. */
  readonly scratch: Pointer
}

/** A series of rounds: plain (§5), bind (§8) or fill (§7). The first seed lies at `layout.seed` already. */
export interface RoundsJob {
  readonly kind: 'rounds'
  readonly mode: 'rounds' | 'bind' | 'fill'
  readonly precision: number
  readonly m: number
  readonly n: number
  readonly k: number
  readonly rounds: number
  readonly layout: RoundsLayout
  /** Fingerprints of the first `stored` rounds are kept here for the openings. */
  readonly store: SharedArrayBuffer
  readonly stored: number
  readonly fill: FillBuffers | null
}

export interface PassesLayout {
  readonly z: Pointer
  readonly masks: Pointer
  readonly fingerprints: Pointer
  /** Tree over the roots of the kept rounds, padded with zero hashes. */
  readonly crown: Pointer
  readonly q: Pointer
  /** A tile, its partner and the tree of one kept round for each thread. */
  readonly scratch: Pointer
}

/** Passes over a fill (§7), with partners from a peer's fill in a link part (§8). Z_0 lies at `layout.z` already. */
export interface PassesJob {
  readonly kind: 'passes'
  /** Number of the first pass: 0, or the one computed again for an opening. */
  readonly first: number
  readonly passes: number
  readonly tilesPerRound: number
  readonly layout: PassesLayout
  readonly own: FillBuffers
  readonly peer: FillBuffers
  readonly store: SharedArrayBuffer
  readonly stored: number
  /** Roots of the kept rounds of every pass. */
  readonly roots: SharedArrayBuffer
}

/** One tree to rebuild from kept fingerprints, and the leaves whose paths are asked. */
export interface PathGroup {
  readonly store: SharedArrayBuffer
  readonly offset: number
  /** Tile number of the first leaf: 0 in a round, the place in the whole fill in a pass. */
  readonly base: number
  readonly leaves: readonly { readonly index: number; readonly to: number }[]
}

export interface PathsJob {
  readonly kind: 'paths'
  readonly leaves: number
  readonly groups: readonly PathGroup[]
  /** Fingerprints and tree for each thread. */
  readonly scratch: Pointer
  readonly out: SharedArrayBuffer
}

export type Job = RoundsJob | PassesJob | PathsJob

export interface JobMessage {
  readonly job: Job
  /** Sent when the memory is another one than for the job before. */
  readonly memory?: WasmMemory
}

/** `done` after the start and after each job. Thread 0 alone sends roots, so that they arrive in order. */
export type WorkerMessage = { readonly kind: 'root'; readonly root: Uint8Array } | { readonly kind: 'done' }
