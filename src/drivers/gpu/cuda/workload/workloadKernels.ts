import type { CudaApi, Handle, KernelArgument } from '../loadLibcuda.ts'

/** As kernels/cuda/workload.cu exports them. */
export type KernelName =
  | 'ws_to_bf16'
  | 'ws_to_bf16_turned'
  | 'ws_zero'
  | 'ws_add'
  | 'ws_add_row'
  | 'ws_sum_rows'
  | 'ws_norm'
  | 'ws_norm_backward'
  | 'ws_norm_gains'
  | 'ws_gelu'
  | 'ws_gelu_backward'
  | 'ws_heads'
  | 'ws_softmax'
  | 'ws_softmax_backward'
  | 'ws_embed'
  | 'ws_embed_table'
  | 'ws_embed_positions'
  | 'ws_loss'
  | 'ws_adam'

const THREADS = 256
/** Enough to fill any card; kernels over elements walk on in steps of the whole grid. */
const MOST_BLOCKS = 8192

/** Kernels take whole numbers only: a scalar travels as its bits. */
export const floatBits = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!

export class WorkloadKernels {
  readonly #api: CudaApi
  readonly #module: Handle
  readonly #stream: Handle
  readonly #kernels = new Map<KernelName, Handle>()

  constructor(api: CudaApi, ptx: string, stream: Handle) {
    this.#api = api
    this.#module = api.loadModule(ptx)
    this.#stream = stream
  }

  /** One thread an element, or several in turn. */
  overElements(name: KernelName, count: number, args: readonly KernelArgument[]): void {
    this.overBlocks(name, Math.min(MOST_BLOCKS, Math.ceil(count / THREADS)), args)
  }

  overBlocks(name: KernelName, blocks: number, args: readonly KernelArgument[], matrices = 1, threads = THREADS): void {
    const kernel = this.#kernel(name)
    const stream = this.#stream
    this.#api.launch({ kernel, blocks: [blocks, matrices], threads, stream, arguments: args })
  }

  /** One block a row, no wider than the row needs. */
  overRows(name: KernelName, rows: number, width: number, args: readonly KernelArgument[]): void {
    const threads = width <= 32 ? 32 : width <= 128 ? 128 : THREADS
    this.overBlocks(name, rows, args, 1, threads)
  }

  /** One block for 32 columns. */
  overColumns(name: KernelName, width: number, args: readonly KernelArgument[]): void {
    this.overBlocks(name, Math.ceil(width / 32), args)
  }

  #kernel(name: KernelName): Handle {
    const known = this.#kernels.get(name)
    if (known !== undefined) return known
    const kernel = this.#api.kernel(this.#module, name)
    this.#kernels.set(name, kernel)
    return kernel
  }
}
