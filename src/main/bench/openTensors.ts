import { openCpuTensors } from '../../drivers/gpu/cpu/workload/openCpuTensors.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import type { TensorDevice } from '../../ports/tensorDevice.ts'

/** What `auto` passes over: a machine without a card is no fault. */
const NO_CARD = new Set(['NO_GPU_DRIVER', 'NO_GPU'])

/** `auto` takes every card there is, and the CPU where there is none; `cuda` takes the cards or fails. */
export async function openTensors(kind: string): Promise<readonly TensorDevice[]> {
  if (kind !== 'cpu' && kind !== 'cuda' && kind !== 'auto') throw unknownKind(kind)
  if (kind === 'cpu') return [openCpuTensors()]
  try {
    // Loaded only here: a machine without a card needs no native part.
    const { openCudaTensors } = await import('../../drivers/gpu/cuda/workload/openCudaTensors.ts')
    return openCudaTensors()
  } catch (error) {
    if (kind === 'auto' && error instanceof TouchstoneError && NO_CARD.has(error.detail.code)) return [openCpuTensors()]
    throw error
  }
}

const unknownKind = (kind: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'UNKNOWN_DEVICE' },
    {
      message: `the workload does not run on ${kind.slice(0, 20)}`,
      blame: 'user',
      retry: false,
      nextStep: 'Use --devices auto, cpu or cuda.',
    },
  )
