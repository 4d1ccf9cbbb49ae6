import { alignUp, type Pointer } from '../../../engine/kernels.ts'
import { QUAD_BYTES, type StepKernels } from '../../stepKernels.ts'
import type { WorkEngine } from '../../tensorMemory.ts'
import { decodeQuads, encodeQuads, type Quad } from './field31.ts'

export type StepEngine = WorkEngine<StepKernels>

const ALIGNMENT = 64

/** Rooms in the memory of an engine, one after the other; what was taken last is given back first. */
export class StepRooms {
  readonly engine: StepEngine
  readonly kernels: StepKernels
  #end: Pointer

  constructor(engine: StepEngine) {
    this.engine = engine
    this.kernels = engine.kernels
    this.#end = engine.start
  }

  room(bytes: number): Pointer {
    const { start } = this.engine
    const at = start + alignUp(this.#end - start, ALIGNMENT)
    this.#end = at + bytes
    // Kernels read whole vectors.
    this.engine.reserve(this.#end + ALIGNMENT)
    return at
  }

  /** Everything that is taken while a job runs is given back after it. */
  during<T>(job: () => T): T {
    const end = this.#end
    try {
      return job()
    } finally {
      this.#end = end
    }
  }

  zeros(bytes: number): Pointer {
    const at = this.room(bytes)
    this.engine.view(at, bytes).fill(0)
    return at
  }

  putBytes(bytes: Uint8Array): Pointer {
    const at = this.room(bytes.length)
    this.engine.view(at, bytes.length).set(bytes)
    return at
  }

  /** Whole numbers of 32 bits. */
  putWords = (words: readonly number[]): Pointer => this.putBytes(new Uint8Array(Uint32Array.from(words).buffer))

  put = (quads: readonly Quad[]): Pointer => this.putBytes(encodeQuads(quads))

  /** W8.2.2. The weights of all indices at a point. */
  weights(point: readonly Quad[]): Pointer {
    const out = this.room(QUAD_BYTES * 2 ** point.length)
    this.during(() => this.kernels.stepWeights(this.put(point), out, point.length))
    return out
  }

  bytes = (at: Pointer, count: number): Uint8Array => this.engine.view(at, count)

  words = (at: Pointer, count: number): Uint32Array => {
    const { buffer, byteOffset } = this.bytes(at, 4 * count)
    return new Uint32Array(buffer, byteOffset, count)
  }

  read = (at: Pointer, count: number): readonly Quad[] => decodeQuads(this.bytes(at, QUAD_BYTES * count), count)!
}
