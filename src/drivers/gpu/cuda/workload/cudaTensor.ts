import type { Tensor } from '../../../../ports/tensorDevice.ts'
import type { Handle } from '../loadLibcuda.ts'

/** One piece of device memory. `version` grows with every write, so that copies know when they are stale. */
export interface Memory {
  readonly pointer: Handle
  readonly owner: object
  version: number
  /** bf16 copies of its views, freed with it. */
  readonly copies: Handle[]
}

export interface RoundedCopy {
  readonly pointer: Handle
  version: number
}

export interface CudaTensor extends Tensor {
  readonly memory: Memory
  readonly pointer: Handle
  /** A part of something larger: of the parameters, which are rounded once a step and used many times. */
  readonly isView: boolean
  plain?: RoundedCopy
  turned?: RoundedCopy
}

export const cudaTensor = (tensor: Tensor): CudaTensor => tensor as CudaTensor
