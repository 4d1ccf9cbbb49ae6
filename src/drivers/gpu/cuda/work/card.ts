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
import type { Fused } from './fused.ts'

export interface WorkCardTools {
  readonly api: CudaApi
  readonly context: Handle
  /** Opened while the context was current; null where our own kernel makes all products. */
  readonly library: CublasLt | null
  readonly ptx: string
  /** Kernels that stand for several steps; null where every step is run alone. */
  readonly fusedPtx: string | null
}

export const HASH_BYTES = 32
/** A block of the kernels leads so many hashes to one. */
const TREE_BLOCK = 256
const SCRATCH = ''
const HASHES = '\0hashes'

/** Steps and trees on one card, on one stream: they are queued, and done when it has settled. */
export class WorkCard {
  readonly #api: CudaApi
  readonly #context: Handle
  readonly stream: Handle
  readonly #library: CublasLt | null
  readonly #launcher: CardLauncher
  readonly #products: CardProducts
  readonly kernels: WorkKernels
  readonly memory: CardMemory
  readonly canFuse: boolean

  constructor({ api, context, library, ptx, fusedPtx }: WorkCardTools) {
    this.#api = api
    this.#context = context
    this.#library = library
    this.stream = api.createStream()
    this.#launcher = new CardLauncher(api, fusedPtx === null ? [ptx] : [ptx, fusedPtx], this.stream)
    this.canFuse = fusedPtx !== null
    this.#products = new CardProducts(this.#launcher, library)
    this.kernels = cardKernels(this.#launcher, this.#products)
    this.memory = new CardMemory(api)
  }

  /** The thread may have worked for another card in between. */
  enter(): void {
    this.#api.useContext(this.#context)
  }

  /** Words that steps set where they write what is no number. */
  faultsAt(words: Handle): void {
    this.#launcher.fault = words
  }

  step(ops: Ops<WorkKernels>, op: string, step: ShapedStep, call: Omit<OpCall, 'scratch'>): void {
    const { batch = 1 } = call.numbers
    if (op === 'transpose' && batch > 1) {
      this.#transpose(call, batch)
      return
    }
    const bytes = ops[op]!.scratchBytes?.(step) ?? 0
    const scratch = bytes > 0 ? this.memory.make(SCRATCH, { type: 'u8', rows: 1, width: bytes }).at : 0
    ops[op]!.run(this.kernels, { ...call, scratch })
    if (bytes > 0) this.memory.free(SCRATCH)
  }

  /** Several steps at once. */
  fused(steps: Fused): void {
    const at = (name: string) => BigInt(this.memory.place(name).at)
    steps.run({ launcher: this.#launcher, products: this.#products, at })
  }

  #transpose({ inputs: [x], outputs: [out] }: Omit<OpCall, 'scratch'>, batch: number): void {
    const { rows, width, type } = x!.shape
    const places = { at: x!.at, to: out!.at, elementBytes: ELEMENT_BYTES[type] }
    transposeMany(this.#launcher, places, { batch, rows: rows / batch, width })
  }

  /** Queues the root of a tensor; it will lie at `to`. */
  root({ at, shape }: Place, to: Handle): void {
    let width = 2 ** depthOf(leavesOf(shape))
    // Every level of blocks is at most a 256th of the one below: all of them fit into twice the first.
    const room = width > TREE_BLOCK ? this.memory.make(HASHES, hashesOf((2 * width) / TREE_BLOCK)) : null
    let across = Math.min(width, TREE_BLOCK)
    width /= across
    let out = width === 1 ? to : BigInt(room!.at)
    this.#launcher.launch('leavesTop', [width, 1], [BigInt(at), out, shape.rows, rowBytes(shape), across])
    while (width > 1) {
      const from = out
      out = from + BigInt(HASH_BYTES * width)
      across = Math.min(width, TREE_BLOCK)
      width /= across
      if (width === 1) out = to
      this.#launcher.launch('nodesTop', [width, 1], [from, out, across])
    }
    if (room) this.memory.free(HASHES)
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

  async settle(): Promise<void> {
    this.enter()
    while (!this.#api.idle(this.stream)) {
      await new Promise((resolve) => setImmediate(resolve))
      this.enter()
    }
  }

  close(): void {
    this.enter()
    this.#api.synchronize(this.stream)
    this.memory.close()
    this.#products.close()
    this.#library?.close()
    this.#api.destroyStream(this.stream)
    this.#api.closeContext(this.#context)
  }
}

const hashesOf = (count: number): TensorShape => ({ type: 'u8', rows: count, width: HASH_BYTES })
