import { headSize } from '../../core/workload/modelShape.ts'
import type { Tensor, TensorDevice } from '../../ports/tensorDevice.ts'
import type { Activations, BlockActivations } from './activations.ts'
import type { Replica } from './replica.ts'
import type { Block, Linear } from './weights.ts'

/** y = x W^T + b over `rows` rows. */
export function applyLinear(
  device: TensorDevice,
  { weight, bias }: Linear,
  to: Tensor,
  from: Tensor,
  rows: number,
): void {
  const [outputs, inputs] = [bias.length, weight.length / bias.length]
  device.product({ c: to, a: from, b: weight, m: rows, n: outputs, k: inputs })
  device.addRow(to, bias, rows)
}

/** From words to the loss of every next word; leaves in `logits` their gradient. */
export function forward(replica: Replica, made: Activations): void {
  const { device, shape, weights } = replica
  const { width, vocabulary } = shape
  const { sequences: batch, tokens, words } = made
  const rows = batch * tokens
  const { tokens: table, positions } = weights
  const outputs = [...made.blocks.slice(1).map(({ input }) => input), made.output]
  device.embed({ words, table, positions, to: made.blocks[0]!.input, batch, tokens, width, start: 0 })
  weights.blocks.forEach((block, index) => {
    attend(replica, block, made, made.blocks[index]!)
    transform(device, block, made.blocks[index]!, outputs[index]!, rows, width)
  })
  const { normed, statistics, logits, losses, targets, output } = made
  device.norm({ ...weights.norm, from: output, to: normed, statistics, rows, width })
  device.product({ c: logits, a: normed, b: weights.head, m: rows, n: vocabulary, k: width })
  device.loss({ logits, targets, losses, rows, columns: vocabulary })
}

/** middle = input + attention(norm(input)) */
function attend({ device, shape }: Replica, block: Block, made: Activations, own: BlockActivations): void {
  const { width, heads } = shape
  const { sequences, tokens, wide, headsA } = made
  const rows = sequences * tokens
  const size = headSize(shape)
  const placing = { batch: sequences, tokens, heads, size, capacity: tokens, start: 0 }
  const { input: from, normed1: to, statistics1: statistics } = own
  device.norm({ ...block.norm1, from, to, statistics, rows, width })
  applyLinear(device, block.attentionInput, wide, to, rows)
  const parts = [own.queries, own.keys, own.values]
  for (const [part, split] of parts.entries())
    device.heads({ ...placing, way: 'split', joined: wide, split, parts: 3, part })
  const { probabilities: scores } = own
  const batch = sequences * heads
  device.product({ c: scores, a: own.queries, b: own.keys, m: tokens, n: tokens, k: size, batch })
  device.softmax({ scores, batch, rows: tokens, columns: tokens, start: 0, scale: 1 / Math.sqrt(size) })
  device.product({ c: headsA, a: scores, b: own.values, m: tokens, n: size, k: tokens, batch, bTransposed: true })
  device.heads({ ...placing, way: 'join', joined: own.attended, split: headsA, parts: 1, part: 0 })
  applyLinear(device, block.attentionOutput, own.middle, own.attended, rows)
  device.add(own.middle, from)
}

/** output = middle + mlp(norm(middle)) */
function transform(
  device: TensorDevice,
  block: Block,
  own: BlockActivations,
  output: Tensor,
  rows: number,
  width: number,
): void {
  const { middle: from, normed2: to, statistics2: statistics } = own
  device.norm({ ...block.norm2, from, to, statistics, rows, width })
  applyLinear(device, block.up, own.raised, to, rows)
  device.gelu(own.active, own.raised)
  applyLinear(device, block.down, output, own.active, rows)
  device.add(output, from)
}
