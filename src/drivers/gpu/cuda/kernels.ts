import { readFileSync } from 'node:fs'
import { type KernelFilesOptions, kernelPath } from '../../system/kernelFiles.ts'
import type { CudaApi, Handle } from './loadLibcuda.ts'

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

export type ModuleName = keyof typeof MODULES

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
