import type { Pointer } from '../../../core/engine/kernels.ts'
import type { WasmMemory, WasmModule } from '../../../core/engine/webAssembly.ts'
import type { NativeLibrary } from '../../system/chooseKernels.ts'
import type { passesLayout, RoundsShape, roundsLayout } from './layout.ts'

/** Where a thread takes its kernels from. */
export type KernelSource = { readonly native: NativeLibrary } | { readonly module: WasmModule }

/** What a worker thread is started with. */
export interface WorkerStart {
  readonly kernels: KernelSource
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

/** A series of rounds: plain (§5), bind (§8) or fill (§7). The first seed lies at `layout.seed` already. */
export interface RoundsJob extends RoundsShape {
  readonly kind: 'rounds'
  readonly rounds: number
  readonly layout: ReturnType<typeof roundsLayout>['layout']
  /** Fingerprints of the first `stored` rounds are kept here for the openings. */
  readonly store: SharedArrayBuffer
  readonly stored: number
  readonly fill: FillBuffers | null
}

/** Passes over a fill (§7), with partners from a peer's fill in a link part (§8). Z_0 lies at `layout.z` already. */
export interface PassesJob {
  readonly kind: 'passes'
  /** Number of the first pass: 0, or the one computed again for an opening. */
  readonly first: number
  readonly passes: number
  readonly tilesPerRound: number
  readonly layout: ReturnType<typeof passesLayout>['layout']
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
