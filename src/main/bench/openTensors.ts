import { openCpuTensors } from '../../drivers/gpu/cpu/workload/openCpuTensors.ts'
import { fault as cudaFault } from '../../drivers/gpu/cuda/faults.ts'
import type { TensorDevice } from '../../ports/tensorDevice.ts'
import { fault } from '../faults.ts'

/** `auto` takes every card there is, and the CPU where there is none; `cuda` takes the cards or fails. */
export async function openTensors(kind: string): Promise<readonly TensorDevice[]> {
  if (kind !== 'cpu' && kind !== 'cuda' && kind !== 'auto') throw unknownKind(kind)
  if (kind === 'cpu') return [openCpuTensors()]
  try {
    // Loaded only here: a machine without a card needs no native part.
    const { openCudaTensors } = await import('../../drivers/gpu/cuda/workload/openCudaTensors.ts')
    return openCudaTensors()
  } catch (error) {
    // A machine without a card is no fault.
    if (kind === 'auto' && cudaFault.is(error, 'NO_GPU_DRIVER', 'NO_GPU')) return [openCpuTensors()]
    throw error
  }
}

const unknownKind = (kind: string) =>
  fault('UNKNOWN_DEVICE', {
    what: 'the workload does not run on',
    name: kind.slice(0, 20),
    kinds: '--devices auto, cpu or cuda',
  })
