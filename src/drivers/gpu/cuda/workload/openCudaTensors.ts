import { readFileSync } from 'node:fs'
import type { TensorDevice } from '../../../../ports/tensorDevice.ts'
import { type KernelFilesOptions, kernelPath } from '../../../system/kernelFiles.ts'
import { openCublasLt } from '../cublasLt.ts'
import { fault } from '../faults.ts'
import { loadLibcuda } from '../loadLibcuda.ts'
import { CudaTensorDevice } from './cudaTensorDevice.ts'

export interface CudaTensorsOptions extends KernelFilesOptions {
  /** Cards by the driver's numbers; all unless said otherwise. Naming one twice opens it twice, each with its own memory. */
  readonly ordinals?: readonly number[]
}

/** Every NVIDIA card of this machine as a tensor device. Needs the product library: nothing else is fast enough here. */
export function openCudaTensors(options: CudaTensorsOptions = {}): TensorDevice[] {
  const api = loadLibcuda()
  const ordinals = options.ordinals ?? Array.from({ length: api.deviceCount() }, (_, ordinal) => ordinal)
  const ptx = readFileSync(kernelPath('workload.ptx', options), 'utf8')
  return ordinals.map((ordinal) => {
    const context = api.openContext(ordinal, 'own')
    const library = openCublasLt()
    if (library === null) throw fault('NO_CUBLASLT')
    return new CudaTensorDevice({ api, name: api.deviceName(ordinal), context, library, ptx })
  })
}
