import type { KernelFilesOptions } from '../../system/kernelFiles.ts'
import { Buffers } from './buffers.ts'
import type { CublasLt } from './cublasLt.ts'
import { Kernels } from './kernels.ts'
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
