import { requireThat } from '../refusals.ts'
import type { TensorShape } from '../tensor.ts'
import type { WorkKernels } from '../workKernels.ts'
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

const ONE: TensorShape = { type: 'f32', rows: 1, width: 1 }
const PIECE = 4096

/** W2.5. One sum of squares for each 4,096 elements of a tensor. */
const squareSums: WorkOp = {
  outputs(inputs) {
    requireTypes('squareSums', inputs, ['f32'])
    return [{ type: 'f32', rows: 1, width: Math.ceil(elementsOf(inputs[0]!) / PIECE) }]
  },
  operations: ({ inputs }) => 2 * elementsOf(inputs[0]!),
  patches: ({ outputs }) => outputs[0]!.width,
  patch({ inputs }, piece) {
    const { width } = inputs[0]!
    const count = Math.min(PIECE, elementsOf(inputs[0]!) - piece * PIECE)
    const [first, last] = [piece * PIECE, piece * PIECE + count - 1].map((at) => Math.floor(at / width)) as [
      number,
      number,
    ]
    return {
      outputs: [elementAt(0, piece)],
      inputs: [{ row: first, rows: last - first + 1, column: 0, columns: width }],
      numbers: { skipped: piece * PIECE - first * width, count },
    }
  },
  patchAt: (_, __, ___, column) => column,
  run(kernels, { inputs, outputs, numbers }) {
    const { skipped = 0, count = elementsOf(inputs[0]!.shape) } = numbers
    return kernels.squareSums(inputs[0]!.at + 4 * skipped, outputs[0]!.at, count)
  },
}

/** W2.9.1. Of sums of squares, one tensor each, in file order. */
const gradientNorm: WorkOp = {
  outputs(inputs) {
    requireTypes('gradientNorm', inputs, Array(inputs.length).fill('f32'))
    for (const input of inputs) requireSize('gradientNorm', input, ONE)
    return [ONE]
  },
  operations: ({ inputs }) => inputs.length,
  patches: () => 1,
  patch: ({ inputs }) => ({ outputs: [elementAt(0, 0)], inputs: inputs.map(() => elementAt(0, 0)), numbers: {} }),
  patchAt: () => 0,
  run(kernels, { inputs, outputs, scratch }) {
    for (const [i, { at }] of inputs.entries()) kernels.move(at, scratch + 4 * i, 4, 1, 1, 1, 0, 0, 0, 0, 0, 0)
    return kernels.gradientNorm(scratch, outputs[0]!.at, inputs.length)
  },
  scratchBytes: ({ inputs }) => 4 * inputs.length,
}

/** W2.9.2. What gradients are multiplied by. */
const clipFactor: WorkOp = {
  outputs(inputs, { clip }) {
    requireTypes('clipFactor', inputs, ['f32'])
    requireSize('clipFactor', inputs[0]!, ONE)
    requireWhole('clipFactor', clip)
    requireThat(floatOf(clip!) > 0, 'BAD_SPEC', 'gradients are clipped at a norm above 0')
    return [ONE]
  },
  operations: () => 1,
  patches: () => 1,
  patch: ({ numbers }) => ({ outputs: [elementAt(0, 0)], inputs: [elementAt(0, 0)], numbers }),
  patchAt: () => 0,
  run: (kernels, { inputs, outputs, numbers }) =>
    kernels.clipFactor(inputs[0]!.at, outputs[0]!.at, floatOf(numbers.clip!)),
}

/** An op over tensors that are alike, the clip factor last where gradients go in; element by element. */
const overParameters = (
  name: string,
  like: number,
  hasClip: boolean,
  floats: readonly string[],
  run: (kernels: WorkKernels, at: readonly number[], count: number, floats: readonly number[]) => number,
): WorkOp => ({
  outputs(inputs, numbers) {
    requireTypes(name, inputs, Array(like + (hasClip ? 1 : 0)).fill('f32'))
    requireWhole(name, ...floats.map((each) => numbers[each]))
    for (const input of inputs.slice(0, like)) requireSize(name, input, inputs[0]!)
    if (hasClip) requireSize(name, inputs.at(-1)!, ONE)
    return [inputs[0]!]
  },
  operations: ({ inputs }) => 5 * elementsOf(inputs[0]!),
  ...chunked,
  patch({ outputs, numbers }, index) {
    const region = chunkAt(outputs[0]!, index)
    const alike = Array<typeof region>(like).fill(region)
    return { outputs: [region], inputs: [...alike, ...(hasClip ? [elementAt(0, 0)] : [])], numbers }
  },
  run: (kernels, { inputs, outputs, numbers }) =>
    run(
      kernels,
      [...inputs, ...outputs].map(({ at }) => at),
      elementsOf(outputs[0]!.shape),
      floats.map((each) => floatOf(numbers[each]!)),
    ),
})

const floatsIn = (bytes: Uint8Array): Float32Array => new Float32Array(new Uint8Array(bytes).buffer)

/** W4.5. In over half of a patch the gradient left no trace: the moment is what it was, times `by`. */
const isWithoutGradient =
  (by: string): NonNullable<WorkOp['deadShare']> =>
  ([before], [after], numbers) => {
    const [old, made, factor] = [floatsIn(before!), floatsIn(after!), floatOf(numbers[by]!)]
    const untouched = made.filter((value, i) => value === Math.fround(factor * old[i]!)).length
    return Number(2 * untouched > made.length)
  }

/** W2.9.3. m, gradient, clip factor. */
const adamWFirst: WorkOp = {
  ...overParameters('adamWFirst', 2, true, ['beta1'], (kernels, [m, g, clip, out], count, [beta1]) =>
    kernels.adamWFirst(m!, g!, clip!, out!, count, beta1!),
  ),
  deadShare: isWithoutGradient('beta1'),
}

/** W2.9.3. v, gradient, clip factor. */
const adamWSecond = overParameters('adamWSecond', 2, true, ['beta2'], (kernels, [v, g, clip, out], count, [beta2]) =>
  kernels.adamWSecond(v!, g!, clip!, out!, count, beta2!),
)

const WEIGHT = ['rate', 'epsilon', 'decay', 'correction1', 'correction2']

/** W2.9.3. w and the new moments. */
const adamWWeight = overParameters('adamWWeight', 3, false, WEIGHT, (kernels, [w, m, v, out], count, floats) => {
  const [rate, epsilon, decay, correction1, correction2] = floats
  return kernels.adamWWeight(w!, m!, v!, out!, count, rate!, epsilon!, decay!, correction1!, correction2!)
})

/** W2.9.4. Velocity, gradient, clip factor. */
const sgdVelocity: WorkOp = {
  ...overParameters('sgdVelocity', 2, true, ['momentum'], (kernels, [v, g, clip, out], count, [by]) =>
    kernels.sgdVelocity(v!, g!, clip!, out!, count, by!),
  ),
  deadShare: isWithoutGradient('momentum'),
}

/** W2.9.4. w and the new velocity. */
const sgdWeight = overParameters('sgdWeight', 2, false, ['rate'], (kernels, [w, v, out], count, [rate]) =>
  kernels.sgdWeight(w!, v!, out!, count, rate!),
)

/** From gradients to the next parameters (W2.9). */
export const optimisers = {
  ...{ squareSums, gradientNorm, clipFactor },
  ...{ adamWFirst, adamWSecond, adamWWeight, sgdVelocity, sgdWeight },
} as const satisfies Record<string, WorkOp>
