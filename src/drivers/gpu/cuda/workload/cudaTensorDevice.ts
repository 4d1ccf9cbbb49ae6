import type {
  AdamTask,
  EmbedBackwardTask,
  EmbedTask,
  HeadsTask,
  LossTask,
  NormBackwardTask,
  NormTask,
  ProductTask,
  SoftmaxBackwardTask,
  SoftmaxTask,
  Tensor,
  TensorDevice,
} from '../../../../ports/tensorDevice.ts'
import type { CublasLt } from '../cublasLt.ts'
import type { CudaApi, Handle } from '../loadLibcuda.ts'
import { Bf16Products } from './bf16Products.ts'
import { type CudaTensor, cudaTensor } from './cudaTensor.ts'
import { floatBits, WorkloadKernels } from './workloadKernels.ts'

export interface CudaTensorTools {
  readonly api: CudaApi
  readonly name: string
  readonly context: Handle
  /** Opened while the context was current. */
  readonly library: CublasLt
  readonly ptx: string
}

/** As in the CPU driver. */
const DECAY1 = 0.9
const DECAY2 = 0.95

/**
 * One card. Everything is queued on one stream; whole tensors are f32, products round their operands to bf16. Several cards
 * are driven from one thread: a call only queues, so all of them are busy at once.
 */
export class CudaTensorDevice implements TensorDevice {
  readonly name: string
  readonly operands = 'bf16'
  readonly #api: CudaApi
  readonly #context: Handle
  readonly #library: CublasLt
  readonly #stream: Handle
  readonly #kernels: WorkloadKernels
  readonly #products: Bf16Products

  constructor({ api, name, context, library, ptx }: CudaTensorTools) {
    this.name = name
    this.#api = api
    this.#context = context
    this.#library = library
    this.#stream = api.createStream()
    this.#kernels = new WorkloadKernels(api, ptx, this.#stream)
    this.#products = new Bf16Products({ api, library, kernels: this.#kernels, stream: this.#stream })
  }

  allocate(length: number): Tensor {
    if (length >= 2 ** 32) throw new RangeError('kernels take tensors apart with 32 bits')
    this.#enter()
    const pointer = this.#api.allocate(4 * length)
    const tensor: CudaTensor = {
      length,
      pointer,
      isView: false,
      memory: { pointer, owner: this, version: 0, copies: [] },
    }
    this.zero(tensor)
    return tensor
  }

  view(tensor: Tensor, offset: number, length: number): Tensor {
    const { memory, pointer } = cudaTensor(tensor)
    if (offset + length > tensor.length) throw new RangeError('a view reaches beyond its tensor')
    const view: CudaTensor = { length, pointer: pointer + BigInt(4 * offset), memory, isView: true }
    return view
  }

  free(tensor: Tensor): void {
    this.#enter()
    this.#api.synchronize(this.#stream)
    const { memory } = cudaTensor(tensor)
    for (const pointer of memory.copies.splice(0)) this.#api.free(pointer)
    this.#api.free(memory.pointer)
  }

  write(tensor: Tensor, values: Float32Array): void {
    this.#upload(tensor, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
  }

  writeWords(tensor: Tensor, values: Int32Array): void {
    this.#upload(tensor, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
  }

  async read(tensor: Tensor): Promise<Float32Array> {
    this.#enter()
    this.#api.synchronize(this.#stream)
    const bytes = this.#api.download(cudaTensor(tensor).pointer, 4 * tensor.length)
    return new Float32Array(bytes.buffer, bytes.byteOffset, tensor.length)
  }

  zero(tensor: Tensor): void {
    this.#enter()
    this.#kernels.overElements('ws_zero', tensor.length, [this.#out(tensor), BigInt(tensor.length)])
  }

  /** From another card, through whatever way the driver finds: the other card's work is done first, and so is the copy. */
  copy(to: Tensor, from: Tensor): void {
    const { owner } = cudaTensor(from).memory
    if (owner !== this) (owner as CudaTensorDevice).#finish()
    this.#enter()
    const bytes = 4 * Math.min(to.length, from.length)
    this.#api.copyAsync(this.#out(to), cudaTensor(from).pointer, bytes, this.#stream)
    if (owner !== this) this.#finish()
  }

  product(task: ProductTask): void {
    this.#enter()
    this.#products.run(task)
  }

  add(to: Tensor, from: Tensor): void {
    this.#enter()
    this.#kernels.overElements('ws_add', to.length, [this.#out(to), pointerOf(from), BigInt(to.length)])
  }

  addRow(to: Tensor, row: Tensor, rows: number): void {
    this.#enter()
    const count = rows * row.length
    this.#kernels.overElements('ws_add_row', count, [this.#out(to), pointerOf(row), BigInt(count), row.length])
  }

  sumRows(to: Tensor, from: Tensor, rows: number): void {
    this.#enter()
    this.#kernels.overColumns('ws_sum_rows', to.length, [this.#out(to), pointerOf(from), rows, to.length])
  }

  norm({ from, gain, shift, to, statistics, rows, width }: NormTask): void {
    this.#enter()
    const outputs = [this.#out(to), this.#out(statistics)]
    this.#kernels.overRows('ws_norm', rows, width, [...outputs, ...[from, gain, shift].map(pointerOf), width])
  }

  normBackward(task: NormBackwardTask): void {
    this.#enter()
    const { rows, width } = task
    const [gradient, from, gain, statistics] = [task.gradient, task.from, task.gain, task.statistics].map(
      pointerOf,
    ) as [Handle, Handle, Handle, Handle]
    const gains = [this.#out(task.toGain), this.#out(task.toShift), gradient, from, statistics, rows, width]
    this.#kernels.overColumns('ws_norm_gains', width, gains)
    const inputs = [this.#out(task.toFrom), gradient, from, gain, statistics, width]
    this.#kernels.overRows('ws_norm_backward', rows, width, inputs)
  }

  gelu(to: Tensor, from: Tensor): void {
    this.#enter()
    this.#kernels.overElements('ws_gelu', to.length, [this.#out(to), pointerOf(from), BigInt(to.length)])
  }

  geluBackward(gradient: Tensor, from: Tensor): void {
    this.#enter()
    const count = gradient.length
    this.#kernels.overElements('ws_gelu_backward', count, [this.#out(gradient), pointerOf(from), BigInt(count)])
  }

  heads(task: HeadsTask): void {
    this.#enter()
    const { way, joined, split, batch, tokens, heads, size, parts, part, capacity, start } = task
    const count = batch * tokens * heads * size
    const back = way === 'join'
    const both = back ? [this.#out(joined), pointerOf(split)] : [pointerOf(joined), this.#out(split)]
    const sizes = [tokens, heads, size, parts, part, capacity, start]
    this.#kernels.overElements('ws_heads', count, [...both, back ? 1 : 0, BigInt(count), ...sizes])
  }

  softmax({ scores, batch, rows, columns, start, scale }: SoftmaxTask): void {
    this.#enter()
    const args = [this.#out(scores), rows, columns, start, floatBits(scale)]
    this.#kernels.overRows('ws_softmax', batch * rows, columns, args)
  }

  softmaxBackward({ probabilities, gradient, rows, columns, scale }: SoftmaxBackwardTask): void {
    this.#enter()
    const args = [this.#out(gradient), pointerOf(probabilities), columns, floatBits(scale)]
    this.#kernels.overRows('ws_softmax_backward', rows, columns, args)
  }

  embed({ words, table, positions, to, batch, tokens, width, start }: EmbedTask): void {
    this.#enter()
    const count = batch * tokens * width
    const args = [this.#out(to), ...[words, table, positions].map(pointerOf), BigInt(count), tokens, width, start]
    this.#kernels.overElements('ws_embed', count, args)
  }

  embedBackward(task: EmbedBackwardTask): void {
    this.#enter()
    const { words, gradient, toTable, toPositions, batch, tokens, width, vocabulary, context } = task
    const rows = [this.#out(toTable), pointerOf(words), pointerOf(gradient), batch * tokens, width]
    this.#kernels.overRows('ws_embed_table', vocabulary, width, rows)
    const places = [this.#out(toPositions), pointerOf(gradient), batch, tokens, width]
    this.#kernels.overRows('ws_embed_positions', context, width, places)
  }

  loss({ logits, targets, losses, rows, columns }: LossTask): void {
    this.#enter()
    const args = [this.#out(logits), this.#out(losses), pointerOf(targets), rows, columns]
    this.#kernels.overRows('ws_loss', rows, columns, args)
  }

  adam({ parameters, gradients, first, second, step, rate, gradientScale }: AdamTask): void {
    this.#enter()
    const count = parameters.length
    const outputs = [parameters, first, second].map((tensor) => this.#out(tensor))
    const scalars = [rate / (1 - DECAY1 ** step), 1 / (1 - DECAY2 ** step), gradientScale].map(floatBits)
    this.#kernels.overElements('ws_adam', count, [...outputs, pointerOf(gradients), BigInt(count), ...scalars])
  }

  async settle(): Promise<void> {
    this.#finish()
  }

  async close(): Promise<void> {
    this.#finish()
    this.#products.close()
    this.#library.close()
    this.#api.destroyStream(this.#stream)
    this.#api.closeContext(this.#context)
  }

  /** Plain copies do not wait for our stream: it is emptied first. */
  #upload(tensor: Tensor, bytes: Uint8Array): void {
    this.#finish()
    this.#api.upload(this.#out(tensor), bytes)
  }

  #finish(): void {
    this.#enter()
    this.#api.synchronize(this.#stream)
  }

  /** The thread may have worked for another card in between. */
  #enter(): void {
    this.#api.useContext(this.#context)
  }

  #out(tensor: Tensor): Handle {
    const { memory, pointer } = cudaTensor(tensor)
    memory.version++
    return pointer
  }
}

const pointerOf = (tensor: Tensor): Handle => cudaTensor(tensor).pointer
