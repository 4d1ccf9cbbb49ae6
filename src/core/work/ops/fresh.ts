import type { Numbers } from '../op.ts'
import { requireThat } from '../refusals.ts'
import type { TensorShape } from '../tensor.ts'
import {
  chunkAt,
  chunked,
  elementAt,
  elementsOf,
  floatOf,
  requireSize,
  requireTypes,
  requireWhole,
  type WorkOp,
} from './shapes.ts'

function sizeOf(name: string, { rows, width }: Numbers): { rows: number; width: number } {
  requireWhole(name, rows, width)
  requireThat(rows! > 0 && width! > 0, 'BAD_SHAPE', `${name} of nothing`)
  return { rows: rows!, width: width! }
}

/** An op that makes a tensor of `rows` by `width` from numbers alone; `index` is the place of its first element. */
const fromNumbers = (
  name: string,
  type: TensorShape['type'],
  needed: readonly string[],
  run: WorkOp['run'],
): WorkOp => ({
  outputs(inputs, numbers) {
    requireTypes(name, inputs, [])
    requireWhole(name, ...needed.map((each) => numbers[each]))
    return [{ type, ...sizeOf(name, numbers) }]
  },
  operations: ({ outputs }) => elementsOf(outputs[0]!),
  ...chunked,
  patch({ outputs, numbers }, at) {
    const region = chunkAt(outputs[0]!, at)
    const index = region.row * outputs[0]!.width + region.column
    return { outputs: [region], inputs: [], numbers: { ...numbers, rows: 1, width: region.columns, index } }
  },
  run,
})

/** W2.10.1. Fresh weights. */
const normal = fromNumbers(
  'normal',
  'f32',
  ['deviation', 'mean', 'key0', 'key1', 'tensor', 'transition'],
  (kernels, { outputs, numbers }) => {
    const { deviation, mean, key0, key1, tensor, transition, index = 0 } = numbers
    const count = elementsOf(outputs[0]!.shape)
    const draw = [key0!, key1!, tensor!, transition!, index] as const
    return kernels.normal(outputs[0]!.at, count, floatOf(deviation!), floatOf(mean!), ...draw)
  },
)

/** W2.11.7. The same bits everywhere. */
const fill = fromNumbers('fill', 'f32', ['value'], (kernels, { outputs, numbers }) =>
  kernels.fill(outputs[0]!.at, elementsOf(outputs[0]!.shape), numbers.value!),
)

/** The same word everywhere. */
const fillWords = fromNumbers('fillWords', 'u32', ['value'], (kernels, { outputs, numbers }) =>
  kernels.fill(outputs[0]!.at, elementsOf(outputs[0]!.shape), numbers.value!),
)

/** Bytes of 0, four at a time: tensors lie apart. */
const zeroBytes = fromNumbers('zeroBytes', 'i8', [], (kernels, { outputs }) =>
  kernels.fill(outputs[0]!.at, Math.ceil(elementsOf(outputs[0]!.shape) / 4), 0),
)

/** W2.11.8. Places in a sequence of `period`, over and over. */
const places = fromNumbers('places', 'u32', ['period'], (kernels, { outputs, numbers }) =>
  kernels.places(outputs[0]!.at, elementsOf(outputs[0]!.shape), numbers.period!, numbers.index ?? 0),
)

/** W2.11.4. Frequencies of a head of 2 `half` numbers, side by side. */
const frequencies = fromNumbers('frequencies', 'f32', ['half', 'base'], (kernels, { outputs, numbers }) => {
  const { half, base, index = 0 } = numbers
  return kernels.rotaryFrequencies(outputs[0]!.at, half!, index, elementsOf(outputs[0]!.shape), floatOf(base!))
})

const SEED = ['seed0', 'seed1', 'seed2', 'seed3', 'seed4', 'seed5', 'seed6', 'seed7'] as const

/** W2.10.2. Which windows of an epoch come next. */
const windowOrder: WorkOp = {
  outputs(inputs, numbers) {
    requireTypes('windowOrder', inputs, [])
    const { epoch, windows, first, count } = numbers
    requireWhole('windowOrder', epoch, windows, first, count, ...SEED.map((word) => numbers[word]))
    requireThat(count! > 0 && first! + count! <= windows!, 'BAD_SHAPE', 'an epoch has no more windows')
    return [{ type: 'u32', rows: count!, width: 1 }]
  },
  operations: ({ outputs }) => outputs[0]!.rows,
  patches: ({ outputs }) => outputs[0]!.rows,
  patchAt: (_, __, row) => row,
  patch: ({ numbers }, row) => ({
    outputs: [elementAt(row, 0)],
    inputs: [],
    numbers: { ...numbers, first: numbers.first! + row, count: 1 },
  }),
  run(kernels, { outputs, numbers, scratch }) {
    for (const [i, word] of SEED.entries()) kernels.fill(scratch + 4 * i, 1, numbers[word]!)
    const { epoch, windows, first, count } = numbers
    return kernels.windowOrder(scratch, outputs[0]!.at, epoch!, windows!, first!, count!)
  },
  scratchBytes: () => 32,
}

/** W2.10.3. Logits, sequences, positions: what argmax of it picks is the sample. */
const sampleNoise: WorkOp = {
  outputs(inputs, { factor, key0, key1 }) {
    requireTypes('sampleNoise', inputs, ['f32', 'u32', 'u32'])
    requireWhole('sampleNoise', factor, key0, key1)
    for (const of of inputs.slice(1)) requireSize('sampleNoise', of, { rows: inputs[0]!.rows, width: 1 })
    return [inputs[0]!]
  },
  operations: ({ inputs }) => 4 * elementsOf(inputs[0]!),
  ...chunked,
  patch({ outputs, numbers }, index) {
    const region = chunkAt(outputs[0]!, index)
    const one = elementAt(region.row, 0)
    return { outputs: [region], inputs: [region, one, one], numbers: { ...numbers, first: region.column } }
  },
  run(kernels, { inputs, outputs, numbers }) {
    const [x, sequences, positions] = inputs
    const { rows, width } = x!.shape
    const { factor, key0, key1, first = 0 } = numbers
    const places = [x!.at, sequences!.at, positions!.at, outputs[0]!.at] as const
    return kernels.sampleNoise(...places, rows, width, first, floatOf(factor!), key0!, key1!)
  },
}

/** Ops that make something of a seed or of nothing (W2.10). */
export const fresh = {
  ...{ normal, fill, fillWords, zeroBytes, places, frequencies, windowOrder, sampleNoise },
} as const satisfies Record<string, WorkOp>
