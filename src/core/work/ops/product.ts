import type { Numbers, Op, ShapedStep } from '../op.ts'
import { requireThat } from '../refusals.ts'
import type { TensorShape } from '../tensor.ts'
import { MASK, type WorkKernels } from '../workKernels.ts'

/** W2.1. Sums are exact in 32 bits up to here. */
export const MAX_K = 131_072

/**
 * `batch` products that lie one after the other, `shared` of them in a row with the same B; with `row` and `rows`, of
 * those rows of A alone.
 */
interface Sizes {
  readonly batch: number
  readonly shared: number
  readonly row: number
  readonly rows: number
  readonly columns: number
  readonly k: number
}

function sizesOf([a, b]: readonly TensorShape[], numbers: Numbers): Sizes {
  const { batch = 1, shared = 1, row = 0, rows = a!.rows / batch } = numbers
  return { batch, shared, row, rows, columns: (b!.rows * shared) / batch, k: a!.width }
}

/** Sums of products of 8-bit integers: exact in any order, on any unit (W2.1). */
export const product: Op<Pick<WorkKernels, 'product'>> = {
  outputs(inputs, numbers) {
    const [a, b] = inputs
    requireThat(inputs.length === 2 && a?.type === 'i8' && b?.type === 'i8', 'BAD_SHAPE', 'a product is of two i8')
    requireThat(a.width === b.width && a.width <= MAX_K, 'BAD_SHAPE', `rows of ${a.width} and ${b.width} in a product`)
    const { batch, shared, row, rows, columns } = sizesOf(inputs, numbers)
    const areWhole = [batch, shared, row, rows, columns].every((size) => Number.isSafeInteger(size) && size >= 0)
    requireThat(areWhole && batch * (row + rows) <= a.rows, 'BAD_SHAPE', 'a product reaches beyond its operand')
    requireThat(batch === 1 || row === 0, 'BAD_SHAPE', 'a part of a product has no batch')
    return [{ type: 'i32', rows: batch * rows, width: columns }]
  },
  operations({ inputs, outputs, numbers }: ShapedStep) {
    const whole = 2 * outputs[0]!.rows * outputs[0]!.width * inputs[0]!.width
    return numbers.mask ? Math.ceil(whole / 2) : whole
  },
  patches: ({ outputs }) => outputs[0]!.rows * outputs[0]!.width,
  patch({ inputs, outputs, numbers }, index) {
    const { shared, row, rows, columns, k } = sizesOf(inputs, numbers)
    const [at, column] = [Math.floor(index / outputs[0]!.width), index % outputs[0]!.width]
    const whole = { rows: 1, column: 0, columns: k }
    const first = at % rows
    const isLeftOut = numbers.mask === MASK.result && column > first
    const masked = numbers.mask === MASK.operand ? { mask: MASK.operand, first } : {}
    return {
      outputs: [{ row: at, rows: 1, column, columns: 1 }],
      inputs: [
        { ...whole, row: row + at },
        { ...whole, row: Math.floor(at / rows / shared) * columns + column },
      ],
      numbers: isLeftOut ? { isLeftOut: 1 } : masked,
    }
  },
  patchAt: ({ outputs }, _, row, column) => row * outputs[0]!.width + column,
  run(kernels, { inputs, outputs, numbers }) {
    const shapes = inputs.map(({ shape }) => shape)
    const { batch, shared, row, rows, columns, k } = sizesOf(shapes, numbers)
    const { mask = MASK.none, first = 0, isLeftOut = 0 } = numbers
    const [a, b] = [inputs[0]!.at + row * k, inputs[1]!.at]
    // Nothing is summed: the one entry that was gathered lies above the diagonal.
    if (isLeftOut) return kernels.product(a, b, outputs[0]!.at, 1, 1, 0, 1, 1, MASK.none, 0)
    return kernels.product(a, b, outputs[0]!.at, rows, columns, k, batch, shared, mask, first)
  },
  deadShare: (inputs) => Number(inputs.some((row) => row.every((value) => value === 0))),
}
