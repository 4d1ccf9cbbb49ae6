import { readFileSync } from 'node:fs'
import { type KernelFilesOptions, kernelPath } from '../../system/kernelFiles.ts'
import { closeAll } from './closeAll.ts'
import type { CublasLt } from './cublasLt.ts'
import type { CudaApi, Handle, KernelArgument, Launch } from './loadLibcuda.ts'

const WORKSPACE_BYTES = 64 * 2 ** 20
const MAJOR = 75
const MINOR = 76

export interface CardOptions {
  readonly ordinal: number
  readonly context: 'shared' | 'own'
  readonly files: KernelFilesOptions
  /** Bytes of fingerprints kept on the card for the openings; rounds beyond it are computed again when asked. */
  readonly keepBytes: number | null
}

/** Everything a part needs of its card: the driver with a current context, kernels, memory, one stream. */
export type CardTools = ReturnType<typeof openCardTools>

export function openCardTools(api: CudaApi, openLibrary: () => CublasLt | null, options: CardOptions) {
  const { ordinal } = options
  const context = api.openContext(ordinal, options.context)
  const buffers = new Buffers(api)
  try {
    const kernels = new Kernels(api, options.files)
    const cublasLt = openLibrary()
    /** Compute capability times ten: 90 for 9.0. */
    const capability = 10 * api.deviceAttribute(ordinal, MAJOR) + api.deviceAttribute(ordinal, MINOR)
    const stream = api.createStream()
    return {
      api,
      ordinal,
      context,
      buffers,
      kernels,
      cublasLt,
      capability,
      stream,
      /** Scratch of the library, made on demand. */
      workspace: () => ({ pointer: buffers.take('workspace', WORKSPACE_BYTES), bytes: WORKSPACE_BYTES }),
      launch: (kernel: Handle, blocks: Launch['blocks'], threads: number, args: readonly KernelArgument[]) =>
        api.launch({ kernel, blocks, threads, stream, arguments: args }),
    }
  } catch (error) {
    api.closeContext(context)
    throw error
  }
}

/** Which file under kernels/built holds a kernel; a module is compiled by the driver when its first kernel is asked for. */
const MODULES = {
  base: ['ts_entries_int8', 'ts_entries_fp32', 'ts_leaves_int', 'ts_leaves_float', 'ts_fold', 'ts_finish_round'],
  entries16: ['ts_entries_fp8', 'ts_entries_bf16', 'ts_entries_fp16'],
  entries80: ['ts_entries_fp16'],
  memory: [
    'ts_leaves_fill',
    'ts_leaves_bind',
    'ts_pass',
    'ts_pass_wide',
    'ts_pass_again',
    'ts_fold_many',
    'ts_finish_pass',
  ],
  paths: ['ts_paths'],
  plainProduct: ['ts_product_fp32', 'ts_product_int8'],
  tensor75: ['ts_tensor_int8', 'ts_tensor_fp16'],
  tensor80: ['ts_tensor_int8', 'ts_tensor_bf16', 'ts_tensor_fp16'],
  tensor89: ['ts_tensor_fp8'],
} as const

type ModuleName = keyof typeof MODULES

export class Kernels {
  readonly #api: CudaApi
  readonly #files: KernelFilesOptions
  readonly #modules = new Map<ModuleName, Handle>()
  readonly #kernels = new Map<string, Handle>()

  constructor(api: CudaApi, files: KernelFilesOptions) {
    this.#api = api
    this.#files = files
  }

  get<Name extends ModuleName>(module: Name, name: (typeof MODULES)[Name][number]): Handle {
    const key = `${module}/${name}`
    const known = this.#kernels.get(key)
    if (known !== undefined) return known
    const kernel = this.#api.kernel(this.#module(module), name)
    this.#kernels.set(key, kernel)
    return kernel
  }

  #module(name: ModuleName): Handle {
    const known = this.#modules.get(name)
    if (known !== undefined) return known
    const module = this.#api.loadModule(readFileSync(kernelPath(`${name}.ptx`, this.#files), 'utf8'))
    this.#modules.set(name, module)
    return module
  }
}

type BufferName =
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
