import { concatBytes, u32le, u64le } from '../../../core/bytes/bytes.ts'
import type { CardTools } from './cardTools.ts'
import type { CudaApi, Handle, HostMemory } from './loadLibcuda.ts'
import { type Stop, stopped } from './stop.ts'

interface Replay {
  readonly graph: Handle
  readonly window: RootWindow
  /** How many roots there are already, and how many are wanted. */
  readonly from?: number
  readonly times: number
  /** Launches queued ahead of the last root seen: enough to keep the card busy, few enough to stop soon. */
  readonly ahead: number
}

/** All new roots so far, 32 bytes each, in order. */
export type OnRoots = (roots: Uint8Array) => void

const POLL_MS = 0.05

/**
 * Replays a captured round (or pass) and hands its roots out as the card writes them; the host is out of the loop.
 * Returns all of them.
 */
export function replayGraph(
  tools: CardTools,
  { graph, window, from = 0, times, ahead }: Replay,
  onRoots: OnRoots,
  stop: Stop,
): Uint8Array[] {
  const { api, stream, ordinal } = tools
  let launched = from
  let seen = from
  while (seen < times) {
    if (stop.requested) {
      api.synchronize(stream)
      throw stopped(ordinal)
    }
    while (launched < times && launched - seen < ahead) {
      api.launchGraph(graph, stream)
      launched++
    }
    const count = window.count
    if (count > seen) {
      onRoots(window.roots(seen, count))
      seen = count
    } else {
      api.idle(stream) // throws when the card has failed
      stop.pause(POLL_MS)
    }
  }
  api.synchronize(stream)
  const all = window.roots(0, times)
  return Array.from({ length: times }, (_, i) => all.subarray(32 * i, 32 * i + 32))
}

/** ts_chain_state of prelude.h: seed, round, where the host reads roots and their count. */
export const STATE_BYTES = 56
export const ROUND_OFFSET = 32n
const ROOTS_OFFSET = 64

/** Host memory that kernels write into: a count, then 32 bytes a root. */
export class RootWindow {
  readonly capacity: number
  readonly #api: CudaApi
  readonly #memory: HostMemory
  readonly #count: Uint32Array

  constructor(api: CudaApi, capacity: number) {
    this.#api = api
    this.capacity = capacity
    this.#memory = api.allocateHost(ROOTS_OFFSET + 32 * capacity)
    this.#count = new Uint32Array(this.#memory.bytes.buffer, this.#memory.bytes.byteOffset, 1)
    this.#count[0] = 0
  }

  get count(): number {
    return this.#count[0]!
  }

  roots(from: number, to: number): Uint8Array {
    return this.#memory.bytes.slice(ROOTS_OFFSET + 32 * from, ROOTS_OFFSET + 32 * to)
  }

  /** Sets the state in device memory to the start of a series from `seed`. */
  start(state: Handle, seed: Uint8Array): void {
    this.#count[0] = 0
    const pointer = this.#memory.pointer
    this.#api.upload(
      state,
      concatBytes(seed, u32le(0), u32le(0), u64le(pointer + BigInt(ROOTS_OFFSET)), u64le(pointer)),
    )
  }

  close(): void {
    this.#api.freeHost(this.#memory)
  }
}
