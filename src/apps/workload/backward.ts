import { headSize } from '../../core/workload/modelShape.ts'
import type { Tensor, TensorDevice } from '../../ports/tensorDevice.ts'
import type { Activations, BlockActivations } from './activations.ts'
import type { Trainee } from './replica.ts'
import type { Block, Linear } from './weights.ts'

interface LinearBackward {
  readonly weights: Linear
  readonly gradients: Linear
  /** Input of the way forward. */
  readonly from: Tensor
  /** Gradient of the output. */
  readonly gradient: Tensor
  /** Where the gradient of the input goes. */
  readonly toFrom: Tensor
  readonly rows: number
}

function linearBackward(device: TensorDevice, task: LinearBackward): void {
  const { weights, gradients, from, gradient, toFrom, rows } = task
  const outputs = weights.bias.length
  const inputs = weights.weight.length / outputs
  device.sumRows(gradients.bias, gradient, rows)
  const turned = { aTransposed: true, bTransposed: true }
  device.product({ c: gradients.weight, a: gradient, b: from, m: outputs, n: inputs, k: rows, ...turned })
  device.product({ c: toFrom, a: gradient, b: weights.weight, m: rows, n: inputs, k: outputs, bTransposed: true })
}

/** Gradients of all parameters, from what `forward` left. They replace those of the step before. */
export function backward(trainee: Trainee, made: Activations): void {
  const { device, shape, weights, gradients } = trainee
  const { width, vocabulary, context } = shape
  const { sequences: batch, tokens, words, logits, normed, statistics, stream, narrow, output } = made
  const rows = batch * tokens
  const turned = { aTransposed: true, bTransposed: true }
  device.product({ c: gradients.head, a: logits, b: normed, m: vocabulary, n: width, k: rows, ...turned })
  device.product({ c: narrow, a: logits, b: weights.head, m: rows, n: width, k: vocabulary, bTransposed: true })
  device.zero(stream)
  const [toGain, toShift] = [gradients.norm.gain, gradients.norm.shift]
  const { gain } = weights.norm
  device.normBackward({
    gradient: narrow,
    from: output,
    gain,
    statistics,
    toFrom: stream,
    toGain,
    toShift,
    rows,
    width,
  })
  for (let index = shape.layers - 1; index >= 0; index--) {
    transformBackward(trainee, index, made)
    attendBackward(trainee, index, made)
  }
  const { tokens: toTable, positions: toPositions } = gradients
  device.embedBackward({ words, gradient: stream, toTable, toPositions, batch, tokens, width, vocabulary, context })
}

interface Level {
  readonly block: Block
  readonly to: Block
  readonly own: BlockActivations
}

const levelOf = ({ weights, gradients }: Trainee, index: number, made: Activations): Level => ({
  block: weights.blocks[index]!,
  to: gradients.blocks[index]!,
  own: made.blocks[index]!,
})

/** The gradient in `stream` goes from the block's output to its middle. */
function transformBackward(trainee: Trainee, index: number, made: Activations): void {
  const { device, shape } = trainee
  const { block, to, own } = levelOf(trainee, index, made)
  const { wide, narrow, stream } = made
  const rows = made.sequences * made.tokens
  const down = { weights: block.down, gradients: to.down, from: own.active, gradient: stream, toFrom: wide, rows }
  linearBackward(device, down)
  device.geluBackward(wide, own.raised)
  linearBackward(device, {
    weights: block.up,
    gradients: to.up,
    from: own.normed2,
    gradient: wide,
    toFrom: narrow,
    rows,
  })
  const [toGain, toShift] = [to.norm2.gain, to.norm2.shift]
  const { middle: from, statistics2: statistics } = own
  const norm = { gradient: narrow, from, gain: block.norm2.gain, statistics, toFrom: stream, toGain, toShift }
  device.normBackward({ ...norm, rows, width: shape.width })
}

/** The gradient in `stream` goes from the block's middle to its input. */
function attendBackward(trainee: Trainee, index: number, made: Activations): void {
  const { device, shape } = trainee
  const { block, to, own } = levelOf(trainee, index, made)
  const { wide, narrow, stream } = made
  const rows = made.sequences * made.tokens
  const output = { weights: block.attentionOutput, gradients: to.attentionOutput, from: own.attended, rows }
  linearBackward(device, { ...output, gradient: stream, toFrom: narrow })
  scoresBackward(trainee, own, made)
  const input = { weights: block.attentionInput, gradients: to.attentionInput, from: own.normed1, rows }
  linearBackward(device, { ...input, gradient: wide, toFrom: narrow })
  const [toGain, toShift] = [to.norm1.gain, to.norm1.shift]
  const { input: from, statistics1: statistics } = own
  const norm = { gradient: narrow, from, gain: block.norm1.gain, statistics, toFrom: stream, toGain, toShift }
  device.normBackward({ ...norm, rows, width: shape.width })
}

/** From the gradient of what was attended to (`narrow`) to that of queries, keys and values, joined in `wide`. */
function scoresBackward({ device, shape }: Trainee, own: BlockActivations, made: Activations): void {
  const { heads } = shape
  const { sequences, tokens, wide, narrow, headsA, headsB, headsC, scores } = made
  const size = headSize(shape)
  const placing = { batch: sequences, tokens, heads, size, capacity: tokens, start: 0 }
  const batch = sequences * heads
  const turned = { aTransposed: true, bTransposed: true }
  const join = (split: Tensor, part: number): void =>
    device.heads({ ...placing, way: 'join', joined: wide, split, parts: 3, part })
  device.heads({ ...placing, way: 'split', joined: narrow, split: headsA, parts: 1, part: 0 })
  device.product({ c: headsB, a: own.probabilities, b: headsA, m: tokens, n: size, k: tokens, batch, ...turned })
  join(headsB, 2)
  device.product({ c: scores, a: headsA, b: own.values, m: tokens, n: tokens, k: size, batch })
  const { probabilities } = own
  const scale = 1 / Math.sqrt(size)
  device.softmaxBackward({ probabilities, gradient: scores, rows: batch * tokens, columns: tokens, scale })
  device.product({ c: headsB, a: scores, b: own.keys, m: tokens, n: size, k: tokens, batch, bTransposed: true })
  join(headsB, 0)
  device.product({ c: headsC, a: scores, b: own.queries, m: tokens, n: size, k: tokens, batch, ...turned })
  join(headsC, 1)
}
