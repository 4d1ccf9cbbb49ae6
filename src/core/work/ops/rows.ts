import type { Numbers, Place } from '../op.ts'
import type { TensorShape } from '../tensor.ts'
import { NONE, type WorkKernels } from '../workKernels.ts'
import {
  byRow,
  chunkAt,
  chunked,
  elementAt,
  elementsOf,
  floatOf,
  requireSize,
  requireTypes,
  requireWhole,
  rowAt,
  type WorkOp,
} from './shapes.ts'

const column = (rows: number): TensorShape => ({ type: 'f32', rows, width: 1 })

/** One number for each row of x; with a second input, a number of that row goes in too. */
const ofRows = (
  name: string,
  mayHaveSecond: boolean,
  run: (kernels: WorkKernels, x: Place, second: number, out: number, numbers: Numbers) => number,
  needed: readonly string[] = [],
): WorkOp => ({
  outputs(inputs, numbers) {
    requireTypes(name, inputs, mayHaveSecond && inputs.length === 2 ? ['f32', 'f32'] : ['f32'])
    if (inputs[1]) requireSize(name, inputs[1], { rows: inputs[0]!.rows, width: 1 })
    requireWhole(name, numbers.period ?? 0, ...needed.map((each) => numbers[each]))
    return [column(inputs[0]!.rows)]
  },
  operations: ({ inputs }) => 2 * elementsOf(inputs[0]!),
  ...byRow,
  patch: ({ inputs, numbers }, row) => ({
    outputs: [elementAt(row, 0)],
    inputs: [rowAt(inputs[0]!, row), ...(inputs[1] ? [elementAt(row, 0)] : [])],
    numbers: { ...numbers, first: row },
  }),
  run: (kernels, { inputs, outputs, numbers }) =>
    run(kernels, inputs[0]!, inputs[1]?.at ?? NONE, outputs[0]!.at, numbers),
})

/** W2.8.1 */
const rowMean = ofRows('rowMean', false, (kernels, { at, shape }, _, out) =>
  kernels.rowMean(at, out, shape.rows, shape.width),
)

/** W2.8.1. x, and its mean where rows are centred. */
const normInverse = ofRows(
  'normInverse',
  true,
  (kernels, { at, shape }, mean, out, { epsilon }) =>
    kernels.normInverse(at, mean, out, shape.rows, shape.width, floatOf(epsilon!)),
  ['epsilon'],
)

/** Inputs of everything about norms: x, inverse, then what the op names, then the mean where rows are centred. */
const means = ({ centred = 1 }: { readonly centred?: number }) => (centred ? (['f32'] as const) : [])

/** W2.8.2. x, inverse, gain; mean and shift where rows are centred. */
const norm: WorkOp = {
  outputs(inputs, numbers) {
    const { centred = 1 } = numbers
    requireTypes('norm', inputs, ['f32', 'f32', 'f32', ...(centred ? (['f32', 'f32'] as const) : [])])
    const [x, inverse, gain, mean, shift] = inputs as [TensorShape, TensorShape, TensorShape, ...TensorShape[]]
    for (const of of [inverse, ...(mean ? [mean] : [])]) requireSize('norm', of, { rows: x.rows, width: 1 })
    for (const of of [gain, ...(shift ? [shift] : [])]) requireSize('norm', of, { rows: 1, width: x.width })
    return [x]
  },
  operations: ({ inputs }) => 4 * elementsOf(inputs[0]!),
  ...chunked,
  patch({ inputs, outputs, numbers }, index) {
    const region = chunkAt(outputs[0]!, index)
    const [one, shared] = [elementAt(region.row, 0), { ...region, row: 0 }]
    return { outputs: [region], inputs: [region, one, shared, ...(inputs.length > 3 ? [one, shared] : [])], numbers }
  },
  run(kernels, { inputs, outputs }) {
    const [x, inverse, gain, mean, shift] = inputs
    const { rows, width } = x!.shape
    const [m, s] = [mean?.at ?? NONE, shift?.at ?? NONE]
    return kernels.norm(x!.at, m, inverse!.at, gain!.at, s, outputs[0]!.at, rows, width)
  },
}

/** W2.8.3. x, inverse, gain, dy; mean where rows are centred. */
const normBackward: WorkOp = {
  outputs(inputs, numbers) {
    requireTypes('normBackward', inputs, ['f32', 'f32', 'f32', 'f32', ...means(numbers)])
    const [x, inverse, gain, dy, mean] = inputs as [TensorShape, TensorShape, TensorShape, TensorShape, TensorShape]
    requireSize('normBackward', dy, x)
    requireSize('normBackward', gain, { rows: 1, width: x.width })
    for (const of of [inverse, ...(mean ? [mean] : [])]) requireSize('normBackward', of, { rows: x.rows, width: 1 })
    return [x]
  },
  operations: ({ inputs }) => 8 * elementsOf(inputs[0]!),
  ...byRow,
  patch({ inputs, numbers }, row) {
    const [whole, one] = [rowAt(inputs[0]!, row), elementAt(row, 0)]
    const more = inputs.length > 4 ? [one] : []
    return { outputs: [whole], inputs: [whole, one, rowAt(inputs[2]!, 0), whole, ...more], numbers }
  },
  run(kernels, { inputs, outputs }) {
    const [x, inverse, gain, dy, mean] = inputs
    const { rows, width } = x!.shape
    const out = outputs[0]!.at
    return kernels.normBackward(x!.at, mean?.at ?? NONE, inverse!.at, gain!.at, dy!.at, out, rows, width)
  },
}

/** W2.8.4. x, inverse, dy; mean where rows are centred. */
const normGainTerms: WorkOp = {
  outputs(inputs, numbers) {
    requireTypes('normGainTerms', inputs, ['f32', 'f32', 'f32', ...means(numbers)])
    const [x, inverse, dy, mean] = inputs as [TensorShape, TensorShape, TensorShape, TensorShape]
    requireSize('normGainTerms', dy, x)
    for (const of of [inverse, ...(mean ? [mean] : [])]) requireSize('normGainTerms', of, { rows: x.rows, width: 1 })
    return [x]
  },
  operations: ({ inputs }) => 3 * elementsOf(inputs[0]!),
  ...chunked,
  patch({ inputs, outputs, numbers }, index) {
    const region = chunkAt(outputs[0]!, index)
    const one = elementAt(region.row, 0)
    return { outputs: [region], inputs: [region, one, region, ...(inputs.length > 3 ? [one] : [])], numbers }
  },
  run(kernels, { inputs, outputs }) {
    const [x, inverse, dy, mean] = inputs
    const { rows, width } = x!.shape
    return kernels.normGainTerms(x!.at, mean?.at ?? NONE, inverse!.at, dy!.at, outputs[0]!.at, rows, width)
  },
}

/** W2.7. The largest of what a row sees. */
const rowMaximum = ofRows('rowMaximum', false, (kernels, { at, shape }, _, out, { period = 0, first = 0 }) =>
  kernels.rowMaximum(at, out, shape.rows, shape.width, period, first),
)

/** W2.8.5. x, maximum. */
const exponentialSum = ofRows(
  'exponentialSum',
  true,
  (kernels, { at, shape }, maximum, out, { period = 0, first = 0 }) =>
    kernels.exponentialSum(at, maximum, out, shape.rows, shape.width, period, first),
)

/** W2.8.6. x, maximum. */
const exponential: WorkOp = {
  outputs(inputs, { period = 0 }) {
    requireTypes('exponential', inputs, ['f32', 'f32'])
    requireWhole('exponential', period)
    requireSize('exponential', inputs[1]!, { rows: inputs[0]!.rows, width: 1 })
    return [inputs[0]!]
  },
  operations: ({ inputs }) => 4 * elementsOf(inputs[0]!),
  ...byRow,
  patch({ inputs, numbers: { period = 0 } }, row) {
    const whole = rowAt(inputs[0]!, row)
    return { outputs: [whole], inputs: [whole, elementAt(row, 0)], numbers: { period, first: row } }
  },
  run(kernels, { inputs, outputs, numbers: { period = 0, first = 0 } }) {
    const [x, maximum] = inputs
    const { rows, width } = x!.shape
    return kernels.exponential(x!.at, maximum!.at, outputs[0]!.at, rows, width, period, first)
  },
}

/** W2.8.7. Exponentials, the gradient of the shares, one dot for each row. */
const exponentialBackward: WorkOp = {
  outputs(inputs, { period = 0 }) {
    requireTypes('exponentialBackward', inputs, ['f32', 'f32', 'f32'])
    requireWhole('exponentialBackward', period)
    requireSize('exponentialBackward', inputs[1]!, inputs[0]!)
    requireSize('exponentialBackward', inputs[2]!, { rows: inputs[0]!.rows, width: 1 })
    return [inputs[0]!]
  },
  operations: ({ inputs }) => 2 * elementsOf(inputs[0]!),
  ...byRow,
  patch({ inputs, numbers: { period = 0 } }, row) {
    const whole = rowAt(inputs[0]!, row)
    return { outputs: [whole], inputs: [whole, whole, elementAt(row, 0)], numbers: { period, first: row } }
  },
  run(kernels, { inputs, outputs, numbers: { period = 0, first = 0 } }) {
    const [e, gradient, dot] = inputs
    const { rows, width } = e!.shape
    return kernels.exponentialBackward(e!.at, gradient!.at, dot!.at, outputs[0]!.at, rows, width, period, first)
  },
}

/** W2.8.10. a, b; one number for each row. */
const rowDot: WorkOp = {
  outputs(inputs) {
    requireTypes('rowDot', inputs, ['f32', 'f32'])
    requireSize('rowDot', inputs[1]!, inputs[0]!)
    return [column(inputs[0]!.rows)]
  },
  operations: ({ inputs }) => 2 * elementsOf(inputs[0]!),
  ...byRow,
  patch({ inputs }, row) {
    const whole = rowAt(inputs[0]!, row)
    return { outputs: [elementAt(row, 0)], inputs: [whole, whole], numbers: {} }
  },
  run(kernels, { inputs, outputs }) {
    const { rows, width } = inputs[0]!.shape
    return kernels.rowDot(inputs[0]!.at, inputs[1]!.at, outputs[0]!.at, rows, width)
  },
}

/** W2.8.11. x, one divisor for each row. */
const divideRows: WorkOp = {
  outputs(inputs) {
    requireTypes('divideRows', inputs, ['f32', 'f32'])
    requireSize('divideRows', inputs[1]!, { rows: inputs[0]!.rows, width: 1 })
    return [inputs[0]!]
  },
  operations: ({ inputs }) => elementsOf(inputs[0]!),
  ...chunked,
  patch({ outputs }, index) {
    const region = chunkAt(outputs[0]!, index)
    return { outputs: [region], inputs: [region, elementAt(region.row, 0)], numbers: {} }
  },
  run(kernels, { inputs, outputs }) {
    const { rows, width } = inputs[0]!.shape
    return kernels.divideRows(inputs[0]!.at, inputs[1]!.at, outputs[0]!.at, rows, width)
  },
}

const requireLogits = (name: string, inputs: readonly TensorShape[]): void => {
  requireTypes(name, inputs, ['f32', 'f32', 'f32', 'u32'])
  for (const of of inputs.slice(1)) requireSize(name, of, { rows: inputs[0]!.rows, width: 1 })
}

/** W2.8.8. x, maximum, sum, targets; one loss for each row. */
const crossEntropy: WorkOp = {
  outputs(inputs) {
    requireLogits('crossEntropy', inputs)
    return [column(inputs[0]!.rows)]
  },
  operations: ({ inputs }) => inputs[0]!.rows,
  ...byRow,
  patch({ inputs }, row) {
    const one = elementAt(row, 0)
    return { outputs: [one], inputs: [rowAt(inputs[0]!, row), one, one, one], numbers: {} }
  },
  run(kernels, { inputs, outputs }) {
    const [x, maximum, sum, targets] = inputs
    const { rows, width } = x!.shape
    return kernels.crossEntropy(x!.at, maximum!.at, sum!.at, targets!.at, outputs[0]!.at, rows, width)
  },
}

/** W2.8.9. x, maximum, sum, targets; the gradient of the logits. */
const crossEntropyBackward: WorkOp = {
  outputs(inputs, { factor }) {
    requireLogits('crossEntropyBackward', inputs)
    requireWhole('crossEntropyBackward', factor)
    return [inputs[0]!]
  },
  operations: ({ inputs }) => 4 * elementsOf(inputs[0]!),
  ...chunked,
  patch({ outputs, numbers: { factor } }, index) {
    const region = chunkAt(outputs[0]!, index)
    const one = elementAt(region.row, 0)
    const numbers = { factor: factor!, firstColumn: region.column }
    return { outputs: [region], inputs: [region, one, one, one], numbers }
  },
  run(kernels, { inputs, outputs, numbers: { factor, firstColumn = 0 } }) {
    const [x, maximum, sum, targets] = inputs
    const { rows, width } = x!.shape
    const places = [x!.at, maximum!.at, sum!.at, targets!.at, outputs[0]!.at] as const
    return kernels.crossEntropyBackward(...places, rows, width, firstColumn, floatOf(factor!))
  },
}

/** W2.7. The place of the largest of each row, the first of equals. */
const argmax: WorkOp = {
  outputs(inputs) {
    requireTypes('argmax', inputs, ['f32'])
    return [{ type: 'u32', rows: inputs[0]!.rows, width: 1 }]
  },
  operations: ({ inputs }) => elementsOf(inputs[0]!),
  ...byRow,
  patch: ({ inputs }, row) => ({ outputs: [elementAt(row, 0)], inputs: [rowAt(inputs[0]!, row)], numbers: {} }),
  run(kernels, { inputs, outputs }) {
    const { rows, width } = inputs[0]!.shape
    return kernels.argmax(inputs[0]!.at, outputs[0]!.at, rows, width)
  },
}

/** W2.5. One sum for each row. */
const rowSum = ofRows('rowSum', false, (kernels, { at, shape }, _, out) =>
  kernels.rowSum(at, out, shape.rows, shape.width),
)

/** Ops over rows: norms, softmax, loss, sums (W2.5, W2.8). */
export const rowOps = {
  ...{ rowMean, normInverse, norm, normBackward, normGainTerms },
  ...{ rowMaximum, exponentialSum, exponential, exponentialBackward, rowDot, divideRows },
  ...{ crossEntropy, crossEntropyBackward, argmax, rowSum },
} as const satisfies Record<string, WorkOp>
