import type { Numbers } from '../op.ts'
import { requireThat } from '../refusals.ts'
import type { Region, TensorShape } from '../tensor.ts'
import { NONE } from '../workKernels.ts'
import {
  CHUNK,
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

/** A vector is shared by `rowsEach` rows in a row; without the number, by all. */
const vectorOf = (row: number, rows: number, { rowsEach = rows }: Numbers): number => Math.floor(row / rowsEach)

function requireVectors(name: string, vectors: TensorShape, { rows, width }: TensorShape, numbers: Numbers): void {
  requireWhole(name, numbers.rowsEach ?? rows)
  requireSize(name, vectors, { rows: vectorOf(rows - 1, rows, numbers) + 1, width })
}

const pieceOf = (width: number, { piece = width }: Numbers): number => piece

/** A chunk lies in one piece, or is made of whole ones. */
function requirePiece(width: number, numbers: Numbers): void {
  const piece = pieceOf(width, numbers)
  requireWhole('piece', piece)
  requireThat(
    piece >= width || (piece > 0 && (piece % CHUNK === 0 || CHUNK % piece === 0)),
    'BAD_SHAPE',
    `pieces of ${piece} neither hold ${CHUNK} nor are held by them`,
  )
}

/** W2.2.2. One scale for each row, or for each piece of it; with a second input, of x times that. */
const rowScale: WorkOp = {
  outputs(inputs, numbers) {
    requireTypes('rowScale', inputs, inputs.length === 2 ? ['f32', 'f32'] : ['f32'])
    const [x, fold] = inputs as [TensorShape, TensorShape | undefined]
    requirePiece(x.width, numbers)
    if (fold) requireVectors('fold', fold, x, numbers)
    return [{ type: 'f32', rows: x.rows, width: Math.ceil(x.width / pieceOf(x.width, numbers)) }]
  },
  operations: ({ inputs }) => elementsOf(inputs[0]!),
  patches: ({ outputs }) => elementsOf(outputs[0]!),
  patch({ inputs, outputs, numbers }, index) {
    const [x, fold] = inputs as [TensorShape, TensorShape | undefined]
    const piece = pieceOf(x.width, numbers)
    const [row, at] = [Math.floor(index / outputs[0]!.width), index % outputs[0]!.width]
    const columns = { rows: 1, column: at * piece, columns: Math.min(piece, x.width - at * piece) }
    const folds: Region[] = fold ? [{ ...columns, row: vectorOf(row, x.rows, numbers) }] : []
    return { outputs: [elementAt(row, at)], inputs: [{ ...columns, row }, ...folds], numbers: {} }
  },
  patchAt: ({ outputs }, _, row, column) => row * outputs[0]!.width + column,
  run(kernels, { inputs, outputs, numbers }) {
    const [x, fold] = inputs
    const { rows, width } = x!.shape
    const { rowsEach = rows } = numbers
    return kernels.rowScale(x!.at, fold?.at ?? NONE, outputs[0]!.at, rows, width, pieceOf(width, numbers), 0, rowsEach)
  },
}

/** W2.2.3 to W2.2.5. Inputs are x, its scales and what is folded in; with a key, rounded by chance. */
const quantise: WorkOp = {
  outputs(inputs, numbers) {
    requireTypes('quantise', inputs, inputs.length === 3 ? ['f32', 'f32', 'f32'] : ['f32', 'f32'])
    const [x, scales, fold] = inputs as [TensorShape, TensorShape, TensorShape | undefined]
    requirePiece(x.width, numbers)
    requireSize('scales', scales, { rows: x.rows, width: Math.ceil(x.width / pieceOf(x.width, numbers)) })
    if (fold) requireVectors('fold', fold, x, numbers)
    if (numbers.key0 !== undefined) requireWhole('draw', numbers.key0, numbers.key1, numbers.tensor, numbers.transition)
    return [{ ...x, type: 'i8' }]
  },
  operations: ({ inputs }) => elementsOf(inputs[0]!),
  ...chunked,
  patch({ inputs, outputs, numbers }, index) {
    const [x, , fold] = inputs as [TensorShape, TensorShape, TensorShape | undefined]
    const region = chunkAt(outputs[0]!, index)
    const { row, column, columns } = region
    const piece = pieceOf(x.width, numbers)
    const at = Math.floor(column / piece)
    const scales = { row, rows: 1, column: at, columns: Math.ceil((column + columns) / piece) - at }
    const folds: Region[] = fold ? [{ ...region, row: vectorOf(row, x.rows, numbers) }] : []
    const { key0, key1, tensor, transition } = numbers
    const draw = key0 === undefined ? {} : { key0, key1: key1!, tensor: tensor!, transition: transition! }
    const pieces = piece < columns ? { piece } : {}
    const numbersHere = { ...draw, ...pieces, index: row * x.width + column }
    return { outputs: [region], inputs: [region, scales, ...folds], numbers: numbersHere }
  },
  run(kernels, { inputs, outputs, numbers }) {
    const [x, scales, fold] = inputs
    const { rows, width } = x!.shape
    const { rowsEach = rows, key0, key1, tensor, transition, index = 0, stride = width } = numbers
    const piece = pieceOf(width, numbers)
    const places = [x!.at, fold?.at ?? NONE, scales!.at, outputs[0]!.at] as const
    if (key0 === undefined) return kernels.quantise(...places, rows, width, piece, 0, rowsEach)
    return kernels.quantiseStochastic(
      ...places,
      ...([rows, width, piece, 0, rowsEach, key0, key1!, tensor!, transition!, index, stride] as const),
    )
  },
}

/** W2.2.6. Inputs are sums, scales of rows, and as `hasColumns` and `hasBias` say, scales of columns and a bias. */
const dequantise: WorkOp = {
  outputs(inputs, numbers) {
    const { hasColumns = 0, hasBias = 0 } = numbers
    requireTypes('dequantise', inputs, ['i32', 'f32', ...Array<'f32'>(hasColumns + hasBias).fill('f32')])
    const [sums, scales, ...more] = inputs as [TensorShape, TensorShape, ...TensorShape[]]
    requireSize('scales', scales, { rows: sums.rows, width: 1 })
    if (hasColumns) requireVectors('scales of columns', more[0]!, sums, numbers)
    if (hasBias) requireSize('bias', more.at(-1)!, { rows: 1, width: sums.width })
    return [{ ...sums, type: 'f32' }]
  },
  operations: ({ inputs }) => elementsOf(inputs[0]!),
  ...chunked,
  patch({ inputs, outputs, numbers }, index) {
    const region = chunkAt(outputs[0]!, index)
    const columns = { ...region, row: vectorOf(region.row, inputs[0]!.rows, numbers) }
    const { hasColumns = 0, hasBias = 0, factor } = numbers
    const more = [...(hasColumns ? [columns] : []), ...(hasBias ? [{ ...region, row: 0 }] : [])]
    return {
      outputs: [region],
      inputs: [region, elementAt(region.row, 0), ...more],
      numbers: { hasColumns, hasBias, ...(factor === undefined ? {} : { factor }) },
    }
  },
  run(kernels, { inputs, outputs, numbers }) {
    const [sums, scales, ...more] = inputs
    const { rows, width } = sums!.shape
    const { hasColumns = 0, hasBias = 0, rowsEach = rows, factor } = numbers
    const columns = hasColumns ? more[0]!.at : NONE
    const bias = hasBias ? more.at(-1)!.at : NONE
    const by = factor === undefined ? 1 : floatOf(factor)
    return kernels.dequantise(sums!.at, scales!.at, columns, bias, outputs[0]!.at, rows, width, 0, rowsEach, by)
  },
}

/** W2.1.4. Products of pieces, each with scales of its own, added in order; `batch` and `shared` as in a product. */
const productPieces: WorkOp = {
  outputs(inputs, { piece, batch = 1, shared = 1 }) {
    requireTypes('productPieces', inputs, ['i8', 'f32', 'i8'])
    const [a, scales, b] = inputs as [TensorShape, TensorShape, TensorShape]
    const columns = (b.rows * shared) / batch
    requireWhole('productPieces', piece, batch, shared, a.rows / batch, columns)
    requireSize('scales', scales, { rows: a.rows, width: Math.ceil(a.width / piece!) })
    requireSize('operand', b, { rows: b.rows, width: a.width })
    return [{ type: 'f32', rows: a.rows, width: columns }]
  },
  operations: ({ inputs, outputs }) => 2 * elementsOf(outputs[0]!) * inputs[0]!.width,
  patches: ({ outputs }) => elementsOf(outputs[0]!),
  patch({ inputs, outputs, numbers: { piece, batch = 1, shared = 1 } }, index) {
    const [a, scales] = inputs as [TensorShape, TensorShape, TensorShape]
    const { width } = outputs[0]!
    const [row, column] = [Math.floor(index / width), index % width]
    const theirs = Math.floor(row / (a.rows / batch) / shared) * width + column
    const whole = { rows: 1, column: 0, columns: a.width }
    return {
      outputs: [elementAt(row, column)],
      inputs: [
        { ...whole, row },
        { row, rows: 1, column: 0, columns: scales.width },
        { ...whole, row: theirs },
      ],
      numbers: { piece: piece! },
    }
  },
  patchAt: ({ outputs }, _, row, column) => row * outputs[0]!.width + column,
  run(kernels, { inputs, outputs, numbers: { piece, batch = 1, shared = 1 } }) {
    const [a, scales, b] = inputs
    const { rows, width } = a!.shape
    const columns = (b!.shape.rows * shared) / batch
    const places = [a!.at, scales!.at, b!.at, outputs[0]!.at] as const
    return kernels.productPieces(...places, rows / batch, columns, width, piece!, batch, shared)
  },
  deadShare: ([a, , b]) => Number([a!, b!].some((row) => row.every((value) => value === 0))),
}

/** Ops between floats and 8-bit integers. */
export const quantisation = { rowScale, quantise, dequantise, productPieces } as const satisfies Record<string, WorkOp>
