import { closeAll } from './closeAll.ts'
import type { CudaApi, Handle } from './loadLibcuda.ts'

export type BufferName =
  | 'a'
  | 'b'
  | 'c'
  | 'workspace'
  | 'state'
  | 'prints'
  | 'nodes'
  | 'folded'
  | 'kept'
  | 'keptPrints'
  | 'keptNodes'
  | 'passNodes'
  | 'passGroups'
  | 'passRoots'
  | 'scratch'

/**
 * Device memory by name. A buffer that is large enough is used again; `generation` changes whenever a pointer may have, so
 * that whoever captured pointers in a graph knows to capture again.
 */
export class Buffers {
  readonly #api: CudaApi
  readonly #held = new Map<BufferName, { pointer: Handle; bytes: number }>()
  generation = 0

  constructor(api: CudaApi) {
    this.#api = api
  }

  take(name: BufferName, bytes: number): Handle {
    const held = this.#held.get(name)
    if (held && held.bytes >= bytes) return held.pointer
    this.drop(name)
    const pointer = this.#api.allocate(Math.max(bytes, 256))
    this.#held.set(name, { pointer, bytes })
    this.generation++
    return pointer
  }

  drop(...names: readonly BufferName[]): void {
    closeAll(names.map((name) => () => this.#drop(name)))
  }

  #drop(name: BufferName): void {
    const held = this.#held.get(name)
    if (!held) return
    this.#held.delete(name)
    this.generation++
    this.#api.free(held.pointer)
  }

  dropAll(): void {
    this.drop(...this.#held.keys())
  }

  get heldBytes(): number {
    let sum = 0
    for (const { bytes } of this.#held.values()) sum += bytes
    return sum
  }
}
