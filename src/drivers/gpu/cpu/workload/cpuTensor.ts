import type { Tensor } from '../../../../ports/tensorDevice.ts'

export type Floats = Float32Array | Float64Array

/** Whole numbers up to 2^24 are exact in f32, so words need no other array. */
export interface CpuTensor extends Tensor {
  readonly values: Floats
}

export const valuesOf = (tensor: Tensor): Floats => (tensor as CpuTensor).values
