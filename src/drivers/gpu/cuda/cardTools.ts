import type { KernelFilesOptions } from '../../system/kernelFiles.ts'
import { Buffers } from './buffers.ts'
import type { CublasLt } from './cublasLt.ts'
import { Kernels } from './kernels.ts'
import type { CudaApi, Handle } from './loadLibcuda.ts'
import type { ProductTools } from './product.ts'

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
export interface CardTools extends ProductTools {
  readonly ordinal: number
  readonly context: Handle
  readonly buffers: Buffers
  readonly stream: Handle
}

export function openCardTools(api: CudaApi, openLibrary: () => CublasLt | null, options: CardOptions): CardTools {
  const { ordinal } = options
  const context = api.openContext(ordinal, options.context)
  const buffers = new Buffers(api)
  try {
    return {
      api,
      ordinal,
      context,
      buffers,
      kernels: new Kernels(api, options.files),
      cublasLt: openLibrary(),
      capability: 10 * api.deviceAttribute(ordinal, MAJOR) + api.deviceAttribute(ordinal, MINOR),
      stream: api.createStream(),
      workspace: () => ({ pointer: buffers.take('workspace', WORKSPACE_BYTES), bytes: WORKSPACE_BYTES }),
    }
  } catch (error) {
    api.closeContext(context)
    throw error
  }
}
