import type { Numbers, Op, ShapedStep } from '../op.ts'
import { requireThat } from '../refusals.ts'
import type { ElementType, Region, TensorShape } from '../tensor.ts'
import type { WorkKernels } from '../workKernels.ts'

export type WorkOp = Op<WorkKernels>

const floats = new Float32Array(1)
const words = new Uint32Array(floats.buffer)

/** A float as the whole number that its bits are, and back. */
export function bitsOf(value: number): number {
  floats[0] = value
  return words[0]!
}

export function floatOf(bits: number): number {
  words[0] = bits
  return floats[0]!
}

/** So many elements of a row are recomputed at once. */
export const CHUNK = 256

const perRow = ({ width }: TensorShape): number => Math.ceil(width / CHUNK)

export const chunksOf = (shape: TensorShape): number => shape.rows * perRow(shape)
export const chunkWith = (shape: TensorShape, row: number, column: number): number =>
  row * perRow(shape) + Math.floor(column / CHUNK)

export function chunkAt(shape: TensorShape, index: number): Region {
  const column = (index % perRow(shape)) * CHUNK
  const row = Math.floor(index / perRow(shape))
  return { row, rows: 1, column, columns: Math.min(CHUNK, shape.width - column) }
}

export const rowAt = ({ width }: TensorShape, row: number): Region => ({ row, rows: 1, column: 0, columns: width })
export const elementAt = (row: number, column: number): Region => ({ row, rows: 1, column, columns: 1 })
export const elementsOf = ({ rows, width }: TensorShape): number => rows * width

/** Refuses inputs of other types, or fewer or more of them than there are types. */
export function requireTypes(name: string, inputs: readonly TensorShape[], types: readonly ElementType[]): void {
  const fits = inputs.length === types.length && inputs.every(({ type }, i) => type === types[i])
  requireThat(fits, 'BAD_SHAPE', `${name} takes ${types.join(', ')}`)
}

/** Refuses a tensor that is not so large. */
export function requireSize(name: string, { rows, width }: TensorShape, wanted: { rows: number; width: number }): void {
  const fits = rows === wanted.rows && width === wanted.width
  requireThat(fits, 'BAD_SHAPE', `${name}: ${rows} by ${width} where ${wanted.rows} by ${wanted.width} belongs`)
}

export const requireWhole = (name: string, ...sizes: readonly (number | undefined)[]): void =>
  requireThat(
    sizes.every((size) => size !== undefined && Number.isSafeInteger(size) && size >= 0),
    'BAD_SHAPE',
    `${name} needs whole numbers`,
  )

/** Patches of 256 elements of the first output, and where in it an element of it lies. */
export const chunked = {
  patches: ({ outputs }: ShapedStep) => chunksOf(outputs[0]!),
  patchAt: ({ outputs }: ShapedStep, _: number, row: number, column: number) => chunkWith(outputs[0]!, row, column),
}

/** One patch for each row of the first output. */
export const byRow = {
  patches: ({ outputs }: ShapedStep) => outputs[0]!.rows,
  patchAt: (_: ShapedStep, __: number, row: number) => row,
}

/** An op whose output is as large as its inputs, element by element. */
export const elementwise = (
  name: string,
  count: number,
  run: (kernels: WorkKernels, at: readonly number[], elements: number, numbers: Numbers) => number,
): WorkOp => ({
  outputs(inputs) {
    requireTypes(name, inputs, Array(count).fill('f32'))
    for (const input of inputs) requireSize(name, input, inputs[0]!)
    return [inputs[0]!]
  },
  operations: ({ outputs }) => elementsOf(outputs[0]!),
  ...chunked,
  patch({ inputs, outputs, numbers }, index) {
    const region = chunkAt(outputs[0]!, index)
    return { outputs: [region], inputs: inputs.map(() => region), numbers }
  },
  run: (kernels, { inputs, outputs, numbers }) =>
    run(
      kernels,
      [...inputs, ...outputs].map(({ at }) => at),
      elementsOf(outputs[0]!.shape),
      numbers,
    ),
})
