import type { Tensor, TensorDevice } from '../../../../ports/tensorDevice.ts'
import * as elements from './cpuElements.ts'
import { cpuProduct } from './cpuProduct.ts'
import * as rows from './cpuRows.ts'
import { type CpuTensor, type Floats, valuesOf } from './cpuTensor.ts'

export interface CpuTensorOptions {
  /**
   * f32, as a card stores; f64 for checks by finite differences; bf16 stores f32 and rounds the operands of products, as a
   * tensor core does, so that a card can be compared closely.
   */
  readonly operands?: TensorDevice['operands']
}

/** The model on one core of this machine, in plain loops: small models, and the measure for every other driver. */
export function openCpuTensors({ operands = 'f32' }: CpuTensorOptions = {}): TensorDevice {
  const tensor = (values: Floats): CpuTensor => ({ values, length: values.length })
  const write = (to: Tensor, values: ArrayLike<number>) => valuesOf(to).set(values)
  return {
    name: 'CPU, one core',
    operands,
    allocate: (length) => tensor(operands === 'f64' ? new Float64Array(length) : new Float32Array(length)),
    view: (of, offset, length) => tensor(valuesOf(of).subarray(offset, offset + length)),
    free: () => {},
    write,
    writeWords: write,
    read: async (from) => Float32Array.from(valuesOf(from)),
    zero: (of) => void valuesOf(of).fill(0),
    copy: (to, from) => write(to, valuesOf(from)),
    product: (task) => cpuProduct(task, operands === 'bf16'),
    add: (to, from) => addTo(valuesOf(to), valuesOf(from)),
    addRow: (to, row, count) => elements.cpuAddRow(valuesOf(to), valuesOf(row), count),
    sumRows: (to, from, count) => elements.cpuSumRows(valuesOf(to), valuesOf(from), count),
    norm: rows.cpuNorm,
    normBackward: rows.cpuNormBackward,
    gelu: (to, from) => elements.cpuGelu(valuesOf(to), valuesOf(from)),
    geluBackward: (gradient, from) => elements.cpuGeluBackward(valuesOf(gradient), valuesOf(from)),
    heads: elements.cpuHeads,
    softmax: rows.cpuSoftmax,
    softmaxBackward: rows.cpuSoftmaxBackward,
    embed: elements.cpuEmbed,
    embedBackward: elements.cpuEmbedBackward,
    loss: rows.cpuLoss,
    adam: elements.cpuAdam,
    // Lets timers and signals through between steps.
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    close: async () => {},
  }
}

function addTo(to: Floats, from: Floats): void {
  for (let i = 0; i < to.length; i++) to[i]! += from[i]!
}
