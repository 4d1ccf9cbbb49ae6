import { readFileSync } from 'node:fs'
import type { WorkDevice } from '../../../../ports/workDevice.ts'
import { type KernelFilesOptions, kernelPath } from '../../../system/kernelFiles.ts'
import { openAttester } from '../attest.ts'
import { openCublasLt } from '../cublasLt.ts'
import { loadLibcuda } from '../loadLibcuda.ts'
import { loadNvml } from '../nvml.ts'
import { WorkCard } from './card.ts'
import { CardRun } from './cardRun.ts'

export interface CudaWorkOptions extends KernelFilesOptions {
  /** Cards by the driver's numbers; all unless said otherwise. */
  readonly ordinals?: readonly number[]
}

/** CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR. */
const MAJOR = 75

/** Kernels that stand for several steps, for cards from this generation on; the first of a name is taken. */
export const fusedFiles = (major: number): readonly string[] => [
  'workFused.ptx',
  ...(major >= 9 ? ['workPhases90.ptx'] : []),
  'workDecode.ptx',
]

/** Every NVIDIA card of this machine as a device for works: int8 on tensor cores, the bits of the specification. */
export function openCudaWork(options: CudaWorkOptions = {}): WorkDevice[] {
  const api = loadLibcuda()
  const ordinals = options.ordinals ?? Array.from({ length: api.deviceCount() }, (_, ordinal) => ordinal)
  const read = (name: string) => readFileSync(kernelPath(name, options), 'utf8')
  const [ptx, fieldPtx] = [read('work.ptx'), read('workField.ptx')]
  const nvml = loadNvml()
  return ordinals.map((ordinal) => {
    const context = api.openContext(ordinal, 'own')
    const fusedPtx = fusedFiles(api.deviceAttribute(ordinal, MAJOR)).map(read)
    const card = new WorkCard({ api, context, library: openCublasLt(), ptx, fieldPtx, fusedPtx })
    const attester = nvml && openAttester(nvml, api.devicePci(ordinal))
    return {
      ...(attester ? { attest: async (nonce: Uint8Array) => attester(nonce) } : {}),
      name: api.deviceName(ordinal),
      start: (work, given) => CardRun.start(card, work, given),
      close: async () => card.close(),
    }
  })
}
