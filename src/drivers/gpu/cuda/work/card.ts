import { HASH_BYTES } from '../../../../core/proof/merkle.ts'
import { PAIR_BYTES } from '../../../../core/work/fieldKernels.ts'
import { coordinatesOf } from '../../../../core/work/methods/sumcheck/evaluate.ts'
import type { OpCall, Place, ShapedStep } from '../../../../core/work/op.ts'
import type { Ops } from '../../../../core/work/program.ts'
import { ELEMENT_BYTES, leavesOf, rowBytes, type TensorShape, tensorBytes } from '../../../../core/work/tensor.ts'
import { depthOf } from '../../../../core/work/tensorTree.ts'
import type { WorkKernels } from '../../../../core/work/workKernels.ts'
import type { CublasLt } from '../cublasLt.ts'
import type { CudaApi, Handle } from '../loadLibcuda.ts'
import { CardLauncher, cardKernels, transposeMany } from './cardKernels.ts'
import { CardMemory } from './cardMemory.ts'
import { CardProducts } from './cardProducts.ts'
import { CardRoots, RootsAsMade } from './cardRoots.ts'
import type { CardSize, Fused, FusedTools } from './fused.ts'

export interface WorkCardTools {
  readonly api: CudaApi
  readonly context: Handle
  /** Opened while the context was current; null where our own kernel makes all products. */
  readonly library: CublasLt | null
  readonly ptx: string
  /** Kernels of sumchecks. */
  readonly fieldPtx: string
  /** Kernels that stand for several steps; null where every step is run alone. */
  readonly fusedPtx: readonly string[] | null
}

/** Rows and columns that a block gathers, as kernels/cuda/work/field.h has them. */
const GATHERED_ROWS = 512
const GATHERED_COLUMNS = 1024
const SCRATCH = ''
/** CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT and _MAX_SHARED_MEMORY_PER_BLOCK_OPTIN. */
const MULTIPROCESSORS = 16
const SHARED_BYTES = 97
/** Tables of one name that are in use at a time. */
const TABLE_TURNS = 64

/** Steps and trees on one card, on one stream: they are queued, and done when it has settled. Roots may run beside it. */
export class WorkCard {
  readonly #api: CudaApi
  readonly #context: Handle
  readonly stream: Handle
  /** For what is hashed while the steps go on. */
  readonly #beside: Handle
  readonly #queued: Handle
  readonly #library: CublasLt | null
  readonly #launcher: CardLauncher
  readonly #products: CardProducts
  readonly kernels: WorkKernels
  readonly memory: CardMemory
  readonly #turns = new Map<string, number>()
  readonly canFuse: boolean
  readonly #roots: CardRoots
  readonly #size: CardSize

  constructor({ api: driver, context, library, ptx, fieldPtx, fusedPtx }: WorkCardTools) {
    const api = inContext(driver, context)
    this.#api = api
    this.#context = context
    this.#library = library
    this.stream = api.createStream()
    this.#beside = api.createStream()
    this.#queued = api.createEvent()
    this.#launcher = new CardLauncher(api, [ptx, fieldPtx, ...(fusedPtx ?? [])], this.stream)
    this.canFuse = fusedPtx !== null
    const size = (attribute: number) => (fusedPtx ? api.contextAttribute(context, attribute) : 0)
    this.#size = { multiprocessors: size(MULTIPROCESSORS), sharedBytes: size(SHARED_BYTES) }
    this.#products = new CardProducts(this.#launcher, library)
    this.kernels = cardKernels(this.#launcher, this.#products)
    this.memory = new CardMemory(api)
    this.#roots = new CardRoots({
      ...{ api, launcher: this.#launcher },
      room: (name, bytes) => this.#products.room(name, bytes),
      table: (name, bytes, stream) => this.#table(name, bytes, stream),
    })
  }

  /** Words that steps set where they write what is no number. */
  faultsAt(words: Handle): void {
    this.#launcher.fault = words
  }

  step(ops: Ops<WorkKernels>, op: string, step: ShapedStep, call: Omit<OpCall, 'scratch'>): void {
    this.#enter()
    const { batch = 1 } = call.numbers
    if (op === 'transpose' && (batch > 1 || canTurn(call.inputs[0]!.shape))) {
      this.#transpose(call, batch)
      return
    }
    if (op === 'gradientNorm') {
      this.#gradientNorm(call)
      return
    }
    const bytes = ops[op]!.scratchBytes?.(step) ?? 0
    const scratch = bytes > 0 ? this.memory.make(SCRATCH, { type: 'u8', rows: 1, width: bytes }).at : 0
    ops[op]!.run(this.kernels, { ...call, scratch })
    if (bytes > 0) this.memory.free(SCRATCH)
  }

  /** Several steps at once, so many transitions after the one they were planned for. */
  fused(steps: Fused, shift = 0, faultOf: FusedTools['faultOf'] = () => this.#launcher.fault): void {
    this.#enter()
    const at = (name: string) => BigInt(this.memory.place(name).at)
    const table = (name: string, bytes: Uint8Array) => this.#table(name, bytes)
    const [launcher, products] = [this.#launcher, this.#products]
    steps.run({ launcher, products, at, table, shift, faultOf, size: this.#size })
  }

  /** Products of the library go to the context that is current. */
  #enter(): void {
    this.#api.useContext(this.#context)
  }

  #gradientNorm({ inputs, outputs }: Omit<OpCall, 'scratch'>): void {
    const places = BigUint64Array.from(inputs, ({ at }) => BigInt(at))
    const there = this.#table('squares', new Uint8Array(places.buffer))
    this.#launcher.launch('gradientNormOf', [1, 1], [there, BigInt(outputs[0]!.at), inputs.length])
  }

  #transpose({ inputs: [x], outputs: [out] }: Omit<OpCall, 'scratch'>, batch: number): void {
    const { rows, width, type } = x!.shape
    if (canTurn(x!.shape, batch)) {
      const args = [BigInt(x!.at), BigInt(out!.at), rows / batch, width]
      this.#launcher.launch('turnBytes', [(rows / batch / TURN_SIDE) * (width / TURN_SIDE), batch], args)
      return
    }
    const places = { at: x!.at, to: out!.at, elementBytes: ELEMENT_BYTES[type] }
    transposeMany(this.#launcher, places, { batch, rows: rows / batch, width })
  }

  /** Queues the roots of tensors, all at once; they will lie one after the other from `to` on. */
  roots(places: readonly Place[], to: number): void {
    this.#roots.queue(places, to, this.stream)
  }

  /**
   * The roots of tensors by name, in their order from `to` on, each from when it is made: beside the steps, or among them.
   * Done when the event of its end is reached.
   */
  rootsAsMade(names: readonly string[], to: number, isBeside: boolean): RootsAsMade {
    const stream = isBeside ? this.#beside : this.stream
    const follow = () => {
      this.#api.recordEvent(this.#queued, this.stream)
      this.#api.waitEvent(stream, this.#queued)
    }
    const end = () => {
      const event = this.#api.createEvent()
      this.#api.recordEvent(event, stream)
      return event
    }
    const placeOf = (name: string) => this.memory.place(name)
    return new RootsAsMade(this.#roots, { names, to, placeOf, stream, isBeside, follow, end })
  }

  /** W8.4.1. Queues a matrix of int8 met with the weights of its rows at a point; the vector will lie under a name. */
  gather({ at, shape: { rows, width } }: Place, point: Uint8Array, name: string): Place {
    const [coordinates, length] = [point.length / PAIR_BYTES, 2 ** coordinatesOf(width)]
    const stretches = Math.ceil(rows / GATHERED_ROWS)
    const weights = this.#products.room('weights', PAIR_BYTES * 2 ** coordinates)
    const sums = this.#products.room('stretches', PAIR_BYTES * width * stretches)
    const out = this.memory.make(name, { type: 'u8', rows: length, width: PAIR_BYTES })
    // One row has no coordinates, and nothing cannot be allocated.
    const there = this.#table('point', coordinates > 0 ? point : new Uint8Array(PAIR_BYTES))
    this.#launcher.overElements('pointWeights', 2 ** coordinates, [there, weights, coordinates])
    const grid = [Math.ceil(width / GATHERED_COLUMNS), stretches] as const
    this.#launcher.launch('columnsTimesI8', grid, [BigInt(at), weights, sums, rows, width])
    this.#launcher.overElements('addStretches', length, [sums, BigInt(out.at), stretches, width, length])
    return out
  }

  /** Bytes that kernels read: a new place each time, so that nothing queued before sees them change. */
  #table(name: string, bytes: Uint8Array, stream = this.stream): Handle {
    const turn = (this.#turns.get(name) ?? 0) % TABLE_TURNS
    this.#turns.set(name, turn + 1)
    if (turn === 0) this.#api.synchronize(stream)
    const there = this.#products.room(`${name} ${turn}`, bytes.length)
    this.#api.upload(there, bytes)
    return there
  }

  /** Queues the whole tree of a tensor, level by level as tensorTree.ts has it, under a name. */
  tree({ at, shape }: Place, name: string): Place {
    const depth = depthOf(leavesOf(shape))
    const place = this.memory.make(name, hashesOf(2 ** (depth + 1)))
    const leaves = leavesOf(shape)
    this.kernels.leaves(at, place.at, shape.rows, rowBytes(shape))
    const padding = 2 ** depth - leaves
    if (padding > 0) this.kernels.fill(place.at + leaves * HASH_BYTES, (padding * HASH_BYTES) / 4, 0)
    for (let level = 0, from = place.at; level < depth; level++) {
      const count = 2 ** (depth - level - 1)
      this.kernels.nodes(from, from + 2 * count * HASH_BYTES, count)
      from += 2 * count * HASH_BYTES
    }
    return place
  }

  write(name: string, shape: TensorShape, bytes: Uint8Array): Place {
    const place = this.memory.make(name, shape)
    // Plain copies do not wait for our stream: what lay here before may still be read.
    this.#api.synchronize(this.stream)
    this.#api.upload(BigInt(place.at), bytes)
    return place
  }

  /** What lies there once everything queued is done. */
  async read(at: number, bytes: number): Promise<Uint8Array> {
    await this.settle()
    return this.#api.download(BigInt(at), bytes)
  }

  readWhole({ at, shape }: Place): Promise<Uint8Array> {
    return this.read(at, tensorBytes(shape))
  }

  settle = (): Promise<void> => this.#until(() => this.#api.idle(this.stream))

  /** Nothing is left to do, beside the steps either. */
  stop(): void {
    for (const stream of [this.stream, this.#beside]) this.#api.synchronize(stream)
  }

  /** What an event stands for is done; nobody asks for the event again. */
  async reached(event: Handle): Promise<void> {
    await this.#until(() => this.#api.isReached(event))
    this.#api.destroyEvent(event)
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) await new Promise((resolve) => setImmediate(resolve))
  }

  /** What lies there: whoever asks knows that it is done. */
  take({ at, shape }: Place): Uint8Array {
    return this.takeBytes(at, tensorBytes(shape))
  }

  takeBytes(at: number, bytes: number): Uint8Array {
    return this.#api.download(BigInt(at), bytes)
  }

  /** Zeros, without waiting for what is queued. */
  zeros(name: string, words: number): Place {
    const place = this.memory.make(name, { type: 'u32', rows: 1, width: words })
    this.kernels.fill(place.at, words, 0)
    return place
  }

  close(): void {
    this.stop()
    this.memory.close()
    this.#products.close()
    this.#library?.close()
    this.#api.destroyEvent(this.#queued)
    for (const stream of [this.stream, this.#beside]) this.#api.destroyStream(stream)
    this.#api.closeContext(this.#context)
  }
}

/** A driver each of whose calls is made in a context: the thread may have worked for another card before any of them. */
const inContext = (api: CudaApi, context: Handle): CudaApi =>
  new Proxy(api, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        target.useContext(context)
        return Reflect.apply(member, target, args)
      }
    },
  })

/** As the kernel for large matrices of bytes takes them. */
const TURN_SIDE = 128
const canTurn = ({ type, rows, width }: TensorShape, batch = 1): boolean =>
  type === 'i8' && (rows / batch) % TURN_SIDE === 0 && width % TURN_SIDE === 0

const hashesOf = (count: number): TensorShape => ({ type: 'u8', rows: count, width: HASH_BYTES })
