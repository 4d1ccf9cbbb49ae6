import type { Kernels, Pointer } from '../../../core/engine/kernels.ts'
import type { NativeKernels } from '../../system/nativeKernels.ts'
import type { Control } from './control.ts'
import type { FillBuffers, WorkerMessage } from './jobs.ts'

/** One worker thread of a device: its kernels on the shared memory, and what it shares with the others. */
export interface Thread {
  readonly index: number
  readonly threads: number
  readonly kernels: Kernels | ReturnType<NativeKernels['on']>
  readonly control: Control
  readonly bytes: Uint8Array
  readonly post: (message: WorkerMessage) => void
}

/** Takes pieces of work from the common counter until none is left or the job is cancelled. */
export function takeAll({ control }: Thread, pieces: number, work: (piece: number) => void): void {
  for (let piece = control.take(); piece < pieces; piece = control.take()) {
    if (control.cancelled) return
    work(piece)
  }
}

/** Leaves one thread works on at a time: a power of two, small enough to share the work evenly. */
export function chunkOf(leaves: number, threads: number): number {
  let chunk = 1
  while (chunk < 64 && chunk * 2 * threads * 8 <= leaves) chunk *= 2
  return chunk
}

export const word = (bytes: Uint8Array, at: Pointer): number => new DataView(bytes.buffer).getUint32(at, true)

/** The 2048 kept bytes of tile u, wherever in the fill they lie. */
export function keptBytes({ buffers, tilesPerBuffer }: FillBuffers, u: number): Uint8Array {
  return new Uint8Array(buffers[Math.floor(u / tilesPerBuffer)]!, (u % tilesPerBuffer) * 2048, 2048)
}
