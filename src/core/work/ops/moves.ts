import type { Numbers } from '../op.ts'
import { requireThat } from '../refusals.ts'
import { ELEMENT_BYTES, type TensorShape } from '../tensor.ts'
import { chunkAt, chunked, elementsOf, requireSize, requireWhole, type WorkOp } from './shapes.ts'

const BLOCK = 16

/** W2.11.1. Of each of `batch` matrices that lie one after the other. A patch is a block of 16 by 16. */
const transpose: WorkOp = {
  outputs(inputs, { batch = 1 }) {
    requireThat(inputs.length === 1, 'BAD_SHAPE', 'one tensor is transposed')
    const { type, rows, width } = inputs[0]!
    requireThat(Number.isSafeInteger(rows / batch), 'BAD_SHAPE', `${rows} rows are not ${batch} matrices`)
    return [{ type, rows: width * batch, width: rows / batch }]
  },
  operations: () => 0,
  patches: ({ inputs: [x], outputs: [out], numbers: { batch = 1 } }) =>
    batch * Math.ceil(x!.width / BLOCK) * Math.ceil(out!.width / BLOCK),
  patch({ inputs: [x], outputs: [out] }, index) {
    const [down, across] = [Math.ceil(x!.width / BLOCK), Math.ceil(out!.width / BLOCK)]
    const matrix = Math.floor(index / down / across)
    const [row, column] = [(Math.floor(index / across) % down) * BLOCK, (index % across) * BLOCK]
    const [rows, columns] = [Math.min(BLOCK, x!.width - row), Math.min(BLOCK, out!.width - column)]
    return {
      outputs: [{ row: matrix * x!.width + row, rows, column, columns }],
      inputs: [{ row: matrix * out!.width + column, rows: columns, column: row, columns: rows }],
      numbers: {},
    }
  },
  patchAt({ inputs: [x], outputs: [out] }, _, row, column) {
    const matrix = Math.floor(row / x!.width)
    const inMatrix = Math.floor((row % x!.width) / BLOCK)
    const across = Math.ceil(out!.width / BLOCK)
    return (matrix * Math.ceil(x!.width / BLOCK) + inMatrix) * across + Math.floor(column / BLOCK)
  },
  run(kernels, { inputs, outputs, numbers: { batch = 1 } }) {
    const { type, rows, width } = inputs[0]!.shape
    const turn = ELEMENT_BYTES[type] === 1 ? kernels.transposeBytes : kernels.transposeFloats
    const bytes = (rows / batch) * width * ELEMENT_BYTES[type]
    let fault = 0
    for (let i = 0; i < batch; i++)
      fault |= turn(inputs[0]!.at + i * bytes, outputs[0]!.at + i * bytes, rows / batch, width, 0, width)
    return fault
  },
}

/** The same elements in rows of another width: those of a column side by side, or a row as several. */
const reshape: WorkOp = {
  outputs(inputs, { width }) {
    requireWhole('reshape', width)
    const [x] = inputs as [TensorShape]
    requireThat(
      inputs.length === 1 && width! > 0 && elementsOf(x) % width! === 0,
      'BAD_SHAPE',
      'reshape of broken rows',
    )
    requireThat(x.width === 1 || x.width % width! === 0, 'BAD_SHAPE', 'rows are joined by no step')
    return [{ type: x.type, rows: elementsOf(x) / width!, width: width! }]
  },
  operations: () => 0,
  ...chunked,
  patch({ inputs: [x], outputs: [out] }, index) {
    const region = chunkAt(out!, index)
    const first = region.row * out!.width + region.column
    const { columns } = region
    const from =
      x!.width === 1
        ? { row: first, rows: columns, column: 0, columns: 1 }
        : { row: Math.floor(first / x!.width), rows: 1, column: first % x!.width, columns }
    return { outputs: [region], inputs: [from], numbers: { width: columns } }
  },
  run(kernels, { inputs, outputs }) {
    const { shape, at } = outputs[0]!
    const bytes = ELEMENT_BYTES[shape.type] * shape.width
    return kernels.move(inputs[0]!.at, at, bytes, 1, 1, shape.rows, 0, 0, bytes, 0, 0, bytes)
  },
}

interface Heads {
  readonly tokens: number
  readonly heads: number
  readonly size: number
}

function headsOf(name: string, { tokens, heads, size }: Numbers): Heads {
  requireWhole(name, tokens, heads, size)
  requireThat(tokens! > 0 && heads! > 0 && size! > 0, 'BAD_SHAPE', `${name} of nothing`)
  return { tokens: tokens!, heads: heads!, size: size! }
}

/** From rows of tokens, all heads side by side, to rows of one token and one head: sequence, head, token. */
const splitHeads: WorkOp = {
  outputs(inputs, numbers) {
    const { tokens, heads, size } = headsOf('splitHeads', numbers)
    const [x] = inputs as [TensorShape]
    requireSize('splitHeads', x, { rows: x.rows, width: heads * size })
    requireThat(inputs.length === 1 && x.rows % tokens === 0, 'BAD_SHAPE', 'sequences of another length')
    return [{ type: x.type, rows: x.rows * heads, width: size }]
  },
  operations: () => 0,
  patches: ({ outputs }) => outputs[0]!.rows,
  patchAt: (_, __, row) => row,
  patch({ numbers }, row) {
    const { tokens, heads, size } = headsOf('splitHeads', numbers)
    const [token, head, sequence] = [row % tokens, Math.floor(row / tokens) % heads, Math.floor(row / tokens / heads)]
    const from = { row: sequence * tokens + token, rows: 1, column: head * size, columns: size }
    return {
      outputs: [{ row, rows: 1, column: 0, columns: size }],
      inputs: [from],
      numbers: { tokens: 1, heads: 1, size },
    }
  },
  run: (kernels, { inputs, outputs, numbers }) => {
    const { tokens, heads, size } = headsOf('splitHeads', numbers)
    const [x, out] = [inputs[0]!, outputs[0]!]
    const run = size * ELEMENT_BYTES[x.shape.type]
    const sequences = x.shape.rows / tokens
    return kernels.move(
      ...([x.at, out.at, run, sequences, heads, tokens] as const),
      ...([tokens * heads * run, run, heads * run] as const),
      ...([tokens * heads * run, tokens * run, run] as const),
    )
  },
}

/** The way back. */
const joinHeads: WorkOp = {
  outputs(inputs, numbers) {
    const { tokens, heads, size } = headsOf('joinHeads', numbers)
    const [x] = inputs as [TensorShape]
    requireSize('joinHeads', x, { rows: x.rows, width: size })
    requireThat(inputs.length === 1 && x.rows % (tokens * heads) === 0, 'BAD_SHAPE', 'sequences of another length')
    return [{ type: x.type, rows: x.rows / heads, width: heads * size }]
  },
  operations: () => 0,
  patches: ({ inputs }) => inputs[0]!.rows,
  patchAt: (step, _, row, column) => {
    const { tokens, heads, size } = headsOf('joinHeads', step.numbers)
    return (Math.floor(row / tokens) * heads + Math.floor(column / size)) * tokens + (row % tokens)
  },
  patch({ numbers }, row) {
    const { tokens, heads, size } = headsOf('joinHeads', numbers)
    const [token, head, sequence] = [row % tokens, Math.floor(row / tokens) % heads, Math.floor(row / tokens / heads)]
    const to = { row: sequence * tokens + token, rows: 1, column: head * size, columns: size }
    return {
      outputs: [to],
      inputs: [{ row, rows: 1, column: 0, columns: size }],
      numbers: { tokens: 1, heads: 1, size },
    }
  },
  run: (kernels, { inputs, outputs, numbers }) => {
    const { tokens, heads, size } = headsOf('joinHeads', numbers)
    const [x, out] = [inputs[0]!, outputs[0]!]
    const run = size * ELEMENT_BYTES[x.shape.type]
    const sequences = x.shape.rows / tokens / heads
    return kernels.move(
      ...([x.at, out.at, run, sequences, heads, tokens] as const),
      ...([tokens * heads * run, tokens * run, run] as const),
      ...([tokens * heads * run, run, heads * run] as const),
    )
  },
}

/** Columns `column` … of every row, laid one after the other in rows of `width`. */
const cut: WorkOp = {
  outputs(inputs, { column, columns, width }) {
    requireWhole('cut', column, columns, width)
    const [x] = inputs as [TensorShape]
    requireThat(inputs.length === 1 && column! + columns! <= x.width, 'BAD_SHAPE', 'a cut reaches beyond its tensor')
    requireThat(columns! > 0 && width! > 0 && columns! % width! === 0, 'BAD_SHAPE', 'a cut of broken rows')
    return [{ type: x.type, rows: (x.rows * columns!) / width!, width: width! }]
  },
  operations: () => 0,
  ...chunked,
  patch({ outputs, numbers }, index) {
    const { column = 0, columns = 1, width = 1 } = numbers
    const region = chunkAt(outputs[0]!, index)
    const perRow = columns / width
    const from = {
      row: Math.floor(region.row / perRow),
      rows: 1,
      column: column + (region.row % perRow) * width + region.column,
      columns: region.columns,
    }
    const here = { column: 0, columns: region.columns, width: region.columns }
    return { outputs: [region], inputs: [from], numbers: here }
  },
  run(kernels, { inputs, outputs, numbers }) {
    const { rows, width, type } = inputs[0]!.shape
    const size = ELEMENT_BYTES[type]
    const [from, run] = [inputs[0]!.at + size * numbers.column!, size * numbers.columns!]
    return kernels.move(from, outputs[0]!.at, run, 1, 1, rows, 0, 0, size * width, 0, 0, run)
  },
}

/** The last of every `period` rows. */
const lastOfEach: WorkOp = {
  outputs(inputs, { period }) {
    requireWhole('lastOfEach', period)
    const [x] = inputs as [TensorShape]
    requireThat(inputs.length === 1 && period! > 0 && x.rows % period! === 0, 'BAD_SHAPE', 'rows of a broken period')
    return [{ ...x, rows: x.rows / period! }]
  },
  operations: () => 0,
  ...chunked,
  patch({ outputs, numbers }, index) {
    const region = chunkAt(outputs[0]!, index)
    const from = { ...region, row: (region.row + 1) * numbers.period! - 1 }
    return { outputs: [region], inputs: [from], numbers: { period: 1 } }
  },
  run(kernels, { inputs, outputs, numbers: { period } }) {
    const { type, rows, width } = outputs[0]!.shape
    const run = ELEMENT_BYTES[type] * width
    const from = inputs[0]!.at + (period! - 1) * run
    return kernels.move(from, outputs[0]!.at, run, 1, 1, rows, 0, 0, period! * run, 0, 0, run)
  },
}

/** Rows of a tensor are cells as wide as a piece; the piece has so many rows for each of them. */
const cellsOf = (base: TensorShape, piece: TensorShape) => ({
  cells: base.width / piece.width,
  each: piece.rows / base.rows,
})

/** W2.11.9. A tensor with cells from `column` on taken from a piece, in the rows from `row` on. A patch is one cell. */
const put: WorkOp = {
  outputs(inputs, { row, column }) {
    requireWhole('put', row, column)
    const [base, piece] = inputs as [TensorShape, TensorShape]
    requireThat(inputs.length === 2 && base.type === piece.type, 'BAD_SHAPE', 'put takes two tensors of one type')
    const { cells, each } = cellsOf(base, piece)
    requireThat(Number.isSafeInteger(cells) && Number.isSafeInteger(each), 'BAD_SHAPE', 'put of broken cells')
    requireThat(row! < base.rows && column! + each <= cells, 'BAD_SHAPE', 'put reaches beyond its tensor')
    return [base]
  },
  operations: () => 0,
  patches: ({ inputs }) => inputs[0]!.rows * cellsOf(inputs[0]!, inputs[1]!).cells,
  fresh({ inputs, numbers: { row, column } }) {
    const { cells, each } = cellsOf(inputs[0]!, inputs[1]!)
    return {
      count: (inputs[0]!.rows - row!) * each,
      at: (index) => (row! + Math.floor(index / each)) * cells + column! + (index % each),
    }
  },
  patchAt: ({ inputs }, _, row, column) =>
    row * cellsOf(inputs[0]!, inputs[1]!).cells + Math.floor(column / inputs[1]!.width),
  patch({ inputs, numbers }, index) {
    const [base, piece] = inputs as [TensorShape, TensorShape]
    const { cells, each } = cellsOf(base, piece)
    const [row, cell] = [Math.floor(index / cells), index % cells]
    const inPiece = cell - numbers.column!
    const isPut = row >= numbers.row! && inPiece >= 0 && inPiece < each
    const here = { row, rows: 1, column: cell * piece.width, columns: piece.width }
    const there = { row: row * each + (isPut ? inPiece : 0), rows: 1, column: 0, columns: piece.width }
    return { outputs: [here], inputs: [here, there], numbers: { row: 0, column: 0, isPut: isPut ? 1 : 0 } }
  },
  run(kernels, { inputs, outputs, numbers: { row, column, isPut = 1 } }) {
    const [base, piece] = inputs
    const { rows, width, type } = base!.shape
    const size = ELEMENT_BYTES[type]
    const [whole, run] = [size * width, size * piece!.shape.width * (piece!.shape.rows / rows)]
    const fault = kernels.move(base!.at, outputs[0]!.at, whole, 1, 1, rows, 0, 0, whole, 0, 0, whole)
    if (!isPut) return fault
    const to = outputs[0]!.at + row! * whole + column! * size * piece!.shape.width
    return fault | kernels.move(piece!.at + row! * run, to, run, 1, 1, rows - row!, 0, 0, run, 0, 0, whole)
  },
}

/** Ops that move numbers (W2.11). */
export const moves = {
  ...{ transpose, reshape, splitHeads, joinHeads, cut, lastOfEach, put },
} as const satisfies Record<string, WorkOp>
