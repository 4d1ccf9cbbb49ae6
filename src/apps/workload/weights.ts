import type { ModelShape } from '../../core/workload/modelShape.ts'
import type { ParameterLayout } from '../../core/workload/parameterLayout.ts'
import type { Tensor, TensorDevice } from '../../ports/tensorDevice.ts'

export interface Linear {
  readonly weight: Tensor
  readonly bias: Tensor
}

export interface Norm {
  readonly gain: Tensor
  readonly shift: Tensor
}

export interface Block {
  readonly norm1: Norm
  readonly attentionInput: Linear
  readonly attentionOutput: Linear
  readonly norm2: Norm
  readonly up: Linear
  readonly down: Linear
}

/** A model's parameters, or their gradients, as views of one buffer. */
export interface Weights {
  readonly all: Tensor
  readonly tokens: Tensor
  readonly positions: Tensor
  readonly blocks: readonly Block[]
  readonly norm: Norm
  readonly head: Tensor
}

export function viewWeights(
  device: TensorDevice,
  { layers }: ModelShape,
  layout: ParameterLayout,
  all: Tensor,
): Weights {
  const views = new Map(layout.parameters.map((one) => [one.name, device.view(all, one.offset, one.length)]))
  const get = (name: string): Tensor => views.get(name)!
  const norm = (name: string): Norm => ({ gain: get(`${name}.gain`), shift: get(`${name}.shift`) })
  const linear = (name: string): Linear => ({ weight: get(`${name}.weight`), bias: get(`${name}.bias`) })
  const block = (name: string): Block => ({
    norm1: norm(`${name}.norm1`),
    attentionInput: linear(`${name}.attention.input`),
    attentionOutput: linear(`${name}.attention.output`),
    norm2: norm(`${name}.norm2`),
    up: linear(`${name}.mlp.up`),
    down: linear(`${name}.mlp.down`),
  })
  return {
    all,
    tokens: get('tokens.weight'),
    positions: get('positions.weight'),
    blocks: Array.from({ length: layers }, (_, index) => block(`layers.${index}`)),
    norm: norm('norm'),
    head: get('head.weight'),
  }
}
