import type { Numbers, Op, ShapedStep } from '../op.ts'
import { requireThat } from '../refusals.ts'
import type { TensorShape } from '../tensor.ts'

/** What a product needs of the kernels: C (rows by columns, i32) = A B^T, both operands i8 with k in a row. */
export interface ProductKernels {
  product(a: number, b: number, rows: number, columns: number, k: number, out: number): number
}

/** W2.1. Sums are exact in 32 bits up to here. */
export const MAX_K = 131_072

/** `batch` products that lie one after the other; with `row` and `rows`, of those rows of A alone. */
interface Sizes {
  readonly batch: number
  readonly row: number
  readonly rows: number
  readonly columns: number
  readonly k: number
}

function sizesOf([a, b]: readonly TensorShape[], numbers: Numbers): Sizes {
  const batch = numbers.batch ?? 1
  const row = numbers.row ?? 0
  const rows = numbers.rows ?? a!.rows / batch
  return { batch, row, rows, columns: b!.rows / batch, k: a!.width }
}

/** Sums of products of 8-bit integers: exact in any order, on any unit (W2.1). */
export const product: Op<ProductKernels> = {
  output(inputs, numbers) {
    const [a, b] = inputs
    requireThat(inputs.length === 2 && a?.type === 'i8' && b?.type === 'i8', 'BAD_SHAPE', 'a product is of two i8')
    requireThat(a.width === b.width && a.width <= MAX_K, 'BAD_SHAPE', `rows of ${a.width} and ${b.width} in a product`)
    const { batch, row, rows, columns } = sizesOf(inputs, numbers)
    const areWhole = [batch, row, rows, columns].every((size) => Number.isSafeInteger(size) && size >= 0)
    requireThat(areWhole && batch * (row + rows) <= a.rows, 'BAD_SHAPE', 'a product reaches beyond its operand')
    requireThat(batch === 1 || row === 0, 'BAD_SHAPE', 'a part of a product has no batch')
    return { type: 'i32', rows: batch * rows, width: columns }
  },
  operations: ({ inputs, output }: ShapedStep) => 2 * output.rows * output.width * inputs[0]!.width,
  patches: ({ output }) => output.rows * output.width,
  patch({ inputs, output, numbers }, index) {
    const { row, rows, columns, k } = sizesOf(inputs, numbers)
    const [at, column] = [Math.floor(index / output.width), index % output.width]
    const whole = { rows: 1, column: 0, columns: k }
    return {
      output: { row: at, rows: 1, column, columns: 1 },
      inputs: [
        { ...whole, row: row + at },
        { ...whole, row: Math.floor(at / rows) * columns + column },
      ],
      numbers: {},
    }
  },
  patchAt: ({ output }, row, column) => row * output.width + column,
  run(kernels, { inputs, output, numbers }) {
    const shapes = inputs.map(({ shape }) => shape)
    const { batch, row, rows, columns, k } = sizesOf(shapes, numbers)
    let fault = 0
    for (let i = 0; i < batch; i++)
      fault |= kernels.product(
        inputs[0]!.at + (i * rows + row) * k,
        inputs[1]!.at + i * columns * k,
        rows,
        columns,
        k,
        output.at + 4 * i * rows * columns,
      )
    return fault
  },
  isDead: (inputs) => inputs.some((row) => row.every((value) => value === 0)),
}
