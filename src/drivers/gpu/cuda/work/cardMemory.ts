import type { Place } from '../../../../core/work/op.ts'
import { type TensorShape, tensorBytes } from '../../../../core/work/tensor.ts'
import type { CudaApi, Handle } from '../loadLibcuda.ts'

const ALIGNMENT = 256
/** Memory is asked of the driver in multiples of this: what is left over serves the next tensors. */
const CHUNK_BYTES = 64 * 2 ** 20
const alignedTo = (bytes: number, to: number): number => Math.ceil(bytes / to) * to

interface Gap {
  readonly at: number
  readonly bytes: number
}

/** Memory with all names that it has. */
interface Room extends Gap {
  names: number
}

interface Tensor {
  readonly place: Place
  readonly room: Room
}

/**
 * Tensors in a card's memory, by name. Everything runs on one stream, so that what is freed may be overwritten at once.
 * The closest fit: a transition makes and frees the same sizes over and over, and soon asks the driver for nothing.
 */
export class CardMemory {
  readonly #api: CudaApi
  readonly #tensors = new Map<string, Tensor>()
  readonly #chunks: (Gap & { readonly pointer: Handle })[] = []
  /** No tensor lies in two chunks, even where these touch: the driver copies none such. */
  readonly #starts = new Set<number>()
  /** By place, never next to each other. */
  #gaps: Gap[] = []

  constructor(api: CudaApi) {
    this.#api = api
  }

  has = (name: string): boolean => this.#tensors.has(name)

  make(name: string, shape: TensorShape): Place {
    const bytes = alignedTo(tensorBytes(shape), ALIGNMENT)
    return this.#add(name, shape, () => ({ at: this.#find(bytes), bytes, names: 0 }))
  }

  /** The same bytes under another name, in rows of another width; they are free when no name is left. */
  share(name: string, of: string, shape: TensorShape): Place {
    return this.#add(name, shape, () => this.#tensor(of).room)
  }

  /** Whether the bytes of a tensor have another name too. */
  isShared = (name: string): boolean => this.#tensor(name).room.names > 1

  #add(name: string, shape: TensorShape, roomFor: () => Room): Place {
    if (this.has(name)) throw new RangeError(`${name} is there already`)
    const room = roomFor()
    room.names++
    const place = { at: room.at, shape }
    this.#tensors.set(name, { place, room })
    return place
  }

  #find(bytes: number): number {
    let best = -1
    for (const [i, gap] of this.#gaps.entries())
      if (gap.bytes >= bytes && (best < 0 || gap.bytes < this.#gaps[best]!.bytes)) best = i
    if (best < 0) {
      this.#grow(bytes)
      return this.#find(bytes)
    }
    const { at, bytes: free } = this.#gaps[best]!
    this.#gaps.splice(best, 1, ...(free > bytes ? [{ at: at + bytes, bytes: free - bytes }] : []))
    return at
  }

  #grow(bytes: number): void {
    const size = alignedTo(bytes, CHUNK_BYTES)
    const pointer = this.#api.allocate(size)
    const chunk = { at: Number(pointer), bytes: size }
    this.#chunks.push({ ...chunk, pointer })
    this.#starts.add(chunk.at)
    this.#leave(chunk)
  }

  free(name: string): void {
    const { room } = this.#tensor(name)
    this.#tensors.delete(name)
    room.names--
    if (room.names === 0) this.#leave(room)
  }

  #leave({ at, bytes }: Gap): void {
    let index = this.#gaps.findIndex((gap) => gap.at > at)
    if (index < 0) index = this.#gaps.length
    const [before, after] = [this.#gaps[index - 1], this.#gaps[index]]
    const joinsBefore = before !== undefined && before.at + before.bytes === at && !this.#starts.has(at)
    const joinsAfter = after !== undefined && at + bytes === after.at && !this.#starts.has(after.at)
    const start = joinsBefore ? before.at : at
    const end = joinsAfter ? after.at + after.bytes : at + bytes
    const removed = (joinsBefore ? 1 : 0) + (joinsAfter ? 1 : 0)
    this.#gaps.splice(joinsBefore ? index - 1 : index, removed, { at: start, bytes: end - start })
  }

  rename(from: string, to: string): void {
    const tensor = this.#tensor(from)
    this.#tensors.delete(from)
    this.#tensors.set(to, tensor)
  }

  place(name: string): Place {
    return this.#tensor(name).place
  }

  #tensor(name: string): Tensor {
    const tensor = this.#tensors.get(name)
    if (!tensor) throw new RangeError(`${name} is not there`)
    return tensor
  }

  /** No tensor is left; the memory stays ours. */
  clear(): void {
    this.#tensors.clear()
    this.#gaps = []
    for (const { at, bytes } of [...this.#chunks].sort((a, b) => a.at - b.at)) this.#leave({ at, bytes })
  }

  close(): void {
    this.#tensors.clear()
    this.#gaps = []
    for (const { pointer } of this.#chunks.splice(0)) this.#api.free(pointer)
  }
}
