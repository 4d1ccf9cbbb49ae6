import type { ModelShape } from '../../core/workload/modelShape.ts'
import { type ParameterLayout, parameterLayout } from '../../core/workload/parameterLayout.ts'
import type { Tensor, TensorDevice } from '../../ports/tensorDevice.ts'
import { viewWeights, type Weights } from './weights.ts'

/** A model on one device. Every device of a run holds the same one. */
export interface Replica {
  readonly device: TensorDevice
  readonly shape: ModelShape
  readonly layout: ParameterLayout
  readonly weights: Weights
}

/** What training needs besides: gradients and Adam's two moments. */
export interface Trainee extends Replica {
  readonly gradients: Weights
  readonly first: Tensor
  readonly second: Tensor
}

export function createReplica(device: TensorDevice, shape: ModelShape): Replica {
  const layout = parameterLayout(shape)
  return { device, shape, layout, weights: viewWeights(device, shape, layout, device.allocate(layout.length)) }
}

export function prepareTraining(replica: Replica): Trainee {
  const { device, shape, layout } = replica
  const buffer = () => device.allocate(layout.length)
  return { ...replica, gradients: viewWeights(device, shape, layout, buffer()), first: buffer(), second: buffer() }
}

export function endTraining({ device, gradients, first, second }: Trainee): void {
  for (const tensor of [gradients.all, first, second]) device.free(tensor)
}
