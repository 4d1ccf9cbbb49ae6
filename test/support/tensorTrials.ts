import { createActivations } from '../../src/apps/workload/activations.ts'
import { backward } from '../../src/apps/workload/backward.ts'
import { forward } from '../../src/apps/workload/forward.ts'
import { createReplica, prepareTraining, type Trainee } from '../../src/apps/workload/replica.ts'
import { mix32 } from '../../src/core/proof/mix32.ts'
import { freshParameter } from '../../src/core/workload/freshParameter.ts'
import { MODEL_SHAPES, type ModelShape } from '../../src/core/workload/modelShape.ts'
import type { Tensor, TensorDevice } from '../../src/ports/tensorDevice.ts'

/** Something a device computes from fixed numbers; the outcomes of two devices are compared. */
export interface TensorTrial {
  readonly name: string
  /** Several layers deep: where operands are rounded to bf16, a last bit may decide which way, and the difference grows. */
  readonly deep?: boolean
  run(device: TensorDevice): Promise<Float32Array>
}

export const noise = (length: number, key: number): Float32Array =>
  Float32Array.from({ length }, (_, index) => mix32(index ^ mix32(key)) / 2 ** 31 - 1)

const wordsOf = (length: number, below: number): Int32Array =>
  Int32Array.from({ length }, (_, index) => mix32(index + 99) % below)

function put(device: TensorDevice, values: Float32Array): Tensor {
  const tensor = device.allocate(values.length)
  device.write(tensor, values)
  return tensor
}

function putWords(device: TensorDevice, values: Int32Array): Tensor {
  const tensor = device.allocate(values.length)
  device.writeWords(tensor, values)
  return tensor
}

async function joined(device: TensorDevice, ...tensors: readonly Tensor[]): Promise<Float32Array> {
  const parts: number[] = []
  for (const tensor of tensors) parts.push(...(await device.read(tensor)))
  return Float32Array.from(parts)
}

const [ROWS, WIDTH] = [24, 40]

const products: TensorTrial[] = [
  { aTransposed: false, bTransposed: false, batch: 1 },
  { aTransposed: true, bTransposed: true, batch: 1 },
  { aTransposed: false, bTransposed: true, batch: 3 },
  { aTransposed: false, bTransposed: false, batch: 3 },
  { aTransposed: true, bTransposed: true, batch: 3 },
].map((ways) => ({
  name: `product ${JSON.stringify(ways)}`,
  run: async (device) => {
    const [m, n, k] = [24, 16, 32]
    const c = device.allocate(ways.batch * m * n)
    device.product({
      c,
      a: put(device, noise(ways.batch * m * k, 1)),
      b: put(device, noise(ways.batch * n * k, 2)),
      m,
      n,
      k,
      ...ways,
    })
    return await device.read(c)
  },
}))

const rows: TensorTrial[] = [
  {
    name: 'norm and its way back',
    run: async (device) => {
      const [from, gain, shift] = [
        put(device, noise(ROWS * WIDTH, 3)),
        put(device, noise(WIDTH, 4)),
        put(device, noise(WIDTH, 5)),
      ]
      const [to, statistics] = [device.allocate(ROWS * WIDTH), device.allocate(2 * ROWS)]
      device.norm({ from, gain, shift, to, statistics, rows: ROWS, width: WIDTH })
      const gradient = put(device, noise(ROWS * WIDTH, 6))
      const toFrom = put(device, noise(ROWS * WIDTH, 7))
      const [toGain, toShift] = [device.allocate(WIDTH), device.allocate(WIDTH)]
      device.normBackward({ gradient, from, gain, statistics, toFrom, toGain, toShift, rows: ROWS, width: WIDTH })
      return await joined(device, to, toFrom, toGain, toShift)
    },
  },
  {
    name: 'softmax under a mask and its way back',
    run: async (device) => {
      const scores = put(device, noise(3 * 8 * 16, 8))
      device.softmax({ scores, batch: 3, rows: 8, columns: 16, start: 4, scale: 0.7 })
      const gradient = put(device, noise(3 * 8 * 16, 9))
      device.softmaxBackward({ probabilities: scores, gradient, rows: 24, columns: 16, scale: 0.7 })
      return await joined(device, scores, gradient)
    },
  },
  {
    name: 'loss and its gradient',
    run: async (device) => {
      const [logits, losses] = [put(device, noise(ROWS * WIDTH, 10)), device.allocate(ROWS)]
      device.loss({ logits, targets: putWords(device, wordsOf(ROWS, WIDTH)), losses, rows: ROWS, columns: WIDTH })
      return await joined(device, losses, logits)
    },
  },
]

const elements: TensorTrial[] = [
  {
    name: 'GELU and its way back',
    run: async (device) => {
      const from = put(
        device,
        noise(1000, 11).map((value) => 6 * value),
      )
      const [to, gradient] = [device.allocate(1000), put(device, noise(1000, 12))]
      device.gelu(to, from)
      device.geluBackward(gradient, from)
      return await joined(device, to, gradient)
    },
  },
  {
    name: 'sums, copies, views and zeros',
    run: async (device) => {
      const to = put(device, noise(ROWS * WIDTH, 13))
      device.add(to, put(device, noise(ROWS * WIDTH, 14)))
      device.addRow(to, put(device, noise(WIDTH, 15)), ROWS - 1)
      const [sums, copy] = [device.allocate(WIDTH), device.allocate(ROWS * WIDTH)]
      device.sumRows(sums, to, ROWS - 2)
      device.copy(copy, to)
      device.zero(device.view(copy, WIDTH, 2 * WIDTH))
      return await joined(device, to, sums, copy)
    },
  },
  {
    name: 'heads apart and together',
    run: async (device) => {
      const shape = { batch: 2, tokens: 3, heads: 2, size: 8, parts: 3, part: 1, capacity: 5, start: 1 }
      const [from, split, back] = [put(device, noise(288, 16)), device.allocate(160), device.allocate(288)]
      device.heads({ ...shape, way: 'split', joined: from, split })
      device.heads({ ...shape, way: 'join', joined: back, split })
      return await joined(device, split, back)
    },
  },
  {
    name: 'embedding and its way back',
    run: async (device) => {
      const sizes = { batch: 2, tokens: 6, width: 16 }
      const words = putWords(device, wordsOf(12, 20))
      const [table, positions] = [put(device, noise(20 * 16, 17)), put(device, noise(9 * 16, 18))]
      const [to, toTable, toPositions] = [device.allocate(12 * 16), device.allocate(20 * 16), device.allocate(9 * 16)]
      device.embed({ ...sizes, words, table, positions, to, start: 2 })
      const gradient = put(device, noise(12 * 16, 19))
      device.embedBackward({ ...sizes, words, gradient, toTable, toPositions, vocabulary: 20, context: 9 })
      return await joined(device, to, toTable, toPositions)
    },
  },
  {
    name: 'Adam, two steps',
    run: async (device) => {
      const [parameters, gradients] = [put(device, noise(500, 20)), put(device, noise(500, 21))]
      const [first, second] = [device.allocate(500), device.allocate(500)]
      const task = { parameters, gradients, first, second, rate: 0.01, gradientScale: 0.5 }
      device.adam({ ...task, step: 1 })
      device.adam({ ...task, step: 2 })
      return await joined(device, parameters, first, second)
    },
  },
]

/** A model with noisy norms and biases, so that nothing hides behind ones and zeros. */
export function noisyTrainee(device: TensorDevice, shape: ModelShape = MODEL_SHAPES.tiny): Trainee {
  const trainee = prepareTraining(createReplica(device, shape))
  for (const parameter of trainee.layout.parameters) {
    const values = freshParameter(parameter, 3)
    const more = noise(parameter.length, parameter.offset + 5)
    values.forEach((value, index) => {
      values[index] = 3 * value + 0.1 * more[index]!
    })
    device.write(device.view(trainee.weights.all, parameter.offset, parameter.length), values)
  }
  return trainee
}

const model = (part: 'losses' | 'gradients'): TensorTrial => ({
  name: `${part} of the tiny model`,
  deep: true,
  run: async (device) => {
    const trainee = noisyTrainee(device)
    const activations = createActivations(device, trainee.shape, 2, 16)
    device.writeWords(activations.words, wordsOf(32, 256))
    device.writeWords(activations.targets, wordsOf(33, 256).slice(1))
    forward(trainee, activations)
    backward(trainee, activations)
    return await device.read(part === 'losses' ? activations.losses : trainee.gradients.all)
  },
})

export const TENSOR_TRIALS: readonly TensorTrial[] = [
  ...products,
  ...rows,
  ...elements,
  model('losses'),
  model('gradients'),
]

/** Largest difference, over the largest value there is: 0 for equal outcomes, NaN for none at all. */
export function worstDifference(got: Float32Array, expected: Float32Array): number {
  if (got.length !== expected.length || got.length === 0) return Number.NaN
  let most = 0
  let worst = 0
  for (let i = 0; i < got.length; i++) {
    const difference = Math.abs(got[i]! - expected[i]!)
    if (Number.isNaN(difference)) return Number.NaN
    worst = Math.max(worst, difference)
    most = Math.max(most, Math.abs(expected[i]!))
  }
  return worst / most
}
