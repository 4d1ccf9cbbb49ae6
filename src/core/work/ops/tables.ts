import { requireThat } from '../refusals.ts'
import { ELEMENT_BYTES, type TensorShape } from '../tensor.ts'
import { NONE } from '../workKernels.ts'
import {
  chunkAt,
  chunked,
  elementAt,
  elementsOf,
  requireSize,
  requireTypes,
  requireWhole,
  type WorkOp,
} from './shapes.ts'

const placeIn = (bytes: Uint8Array): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)

/** W2.11.3. Rows of a table that are looked up; with positions, plus rows of a second one. */
const embed: WorkOp = {
  outputs(inputs) {
    const [tokens, table, positions, places] = inputs as [TensorShape, TensorShape, TensorShape?, TensorShape?]
    requireThat(inputs.length === 2 || inputs.length === 4, 'BAD_SHAPE', 'embed takes two tensors or four')
    requireThat(tokens.type === 'u32' && ELEMENT_BYTES[table.type] === 4, 'BAD_SHAPE', 'embed looks up 32 bits by u32')
    requireSize('tokens', tokens, { rows: tokens.rows, width: 1 })
    if (positions && places) {
      requireTypes('embed', [table, positions, places], ['f32', 'u32', 'f32'])
      requireSize('positions', positions, tokens)
      requireSize('places', places, { rows: places.rows, width: table.width })
    }
    return [{ type: table.type, rows: tokens.rows, width: table.width }]
  },
  operations: ({ outputs }) => elementsOf(outputs[0]!),
  ...chunked,
  patch({ inputs, outputs }, index) {
    const region = chunkAt(outputs[0]!, index)
    const one = elementAt(region.row, 0)
    const rowOf = (input: number) => (before: readonly Uint8Array[]) => ({ ...region, row: placeIn(before[input]!) })
    const places = inputs.length === 4 ? [one, rowOf(2)] : []
    return { outputs: [region], inputs: [one, rowOf(0), ...places], numbers: { isGathered: 1 } }
  },
  run(kernels, { inputs, outputs, numbers, scratch }) {
    const [tokens, table, positions, places] = inputs
    const { rows, width } = outputs[0]!.shape
    // What was gathered is the one row that was looked up: it lies at 0.
    const at = (of?: { readonly at: number }) => (of === undefined ? NONE : numbers.isGathered ? scratch : of.at)
    const kinds = [table!.shape.rows, places?.shape.rows ?? 0] as const
    return kernels.embed(
      at(tokens),
      at(positions),
      table!.at,
      places?.at ?? NONE,
      outputs[0]!.at,
      rows,
      width,
      ...kinds,
    )
  },
  scratchBytes: ({ numbers }) => (numbers.isGathered ? 4 : 0),
}

/** W2.11.6. tokens, q by channels, its scales: the gradient of a table. A patch is one element. */
const embedBackward: WorkOp = {
  outputs(inputs, { kinds, piece }) {
    requireTypes('embedBackward', inputs, ['u32', 'i8', 'f32'])
    requireWhole('embedBackward', kinds, piece)
    const [tokens, q, scales] = inputs as [TensorShape, TensorShape, TensorShape]
    requireSize('tokens', tokens, { rows: q.width, width: 1 })
    requireSize('scales', scales, { rows: q.rows, width: Math.ceil(q.width / piece!) })
    return [{ type: 'f32', rows: kinds!, width: q.rows }]
  },
  operations: ({ inputs }) => elementsOf(inputs[1]!),
  patches: ({ outputs }) => elementsOf(outputs[0]!),
  patchAt: ({ outputs }, _, row, column) => row * outputs[0]!.width + column,
  patch({ inputs, outputs, numbers }, index) {
    const [tokens, q, scales] = inputs as [TensorShape, TensorShape, TensorShape]
    const [kind, channel] = [Math.floor(index / outputs[0]!.width), index % outputs[0]!.width]
    const row = { row: channel, rows: 1, column: 0 }
    return {
      outputs: [elementAt(kind, channel)],
      inputs: [
        { row: 0, rows: tokens.rows, column: 0, columns: 1 },
        { ...row, columns: q.width },
        { ...row, columns: scales.width },
      ],
      numbers: { ...numbers, kind },
    }
  },
  run(kernels, { inputs, outputs, numbers, scratch }) {
    const [tokens, q, scales] = inputs
    const { kinds, piece, kind } = numbers as { kinds: number; piece: number; kind?: number }
    const { rows: channels, width } = q!.shape
    const into = kind === undefined ? outputs[0]!.at : scratch + 64 * kinds
    const sizes = [width, kinds, channels, 0, channels, piece] as const
    const fault = kernels.embedBackward(tokens!.at, q!.at, scales!.at, scratch, into, ...sizes)
    if (kind === undefined) return fault
    return fault | kernels.move(into + 4 * kind, outputs[0]!.at, 4, 1, 1, 1, 0, 0, 0, 0, 0, 0)
  },
  scratchBytes: ({ numbers }) => (numbers.kind === undefined ? 64 : 68) * numbers.kinds!,
}

/** W2.11.5. x, positions, frequencies. */
const rotary: WorkOp = {
  outputs(inputs, { heads, inverse }) {
    requireTypes('rotary', inputs, ['f32', 'u32', 'f32'])
    requireWhole('rotary', heads, inverse)
    const [x, positions, frequencies] = inputs as [TensorShape, TensorShape, TensorShape]
    requireSize('positions', positions, { rows: x.rows, width: 1 })
    requireSize('frequencies', frequencies, { rows: 1, width: x.width / heads! / 2 })
    return [x]
  },
  operations: ({ inputs }) => 6 * elementsOf(inputs[0]!),
  patches: ({ outputs, numbers }) => outputs[0]!.rows * numbers.heads!,
  patchAt: ({ outputs, numbers }, _, row, column) =>
    row * numbers.heads! + Math.floor(column / (outputs[0]!.width / numbers.heads!)),
  patch({ inputs, numbers }, index) {
    const { heads, inverse } = numbers as { heads: number; inverse: number }
    const width = inputs[0]!.width / heads
    const region = { row: Math.floor(index / heads), rows: 1, column: (index % heads) * width, columns: width }
    const frequencies = { row: 0, rows: 1, column: 0, columns: width / 2 }
    return {
      outputs: [region],
      inputs: [region, elementAt(region.row, 0), frequencies],
      numbers: { heads: 1, inverse },
    }
  },
  run(kernels, { inputs, outputs, numbers }) {
    const [x, positions, frequencies] = inputs
    const { heads, inverse } = numbers as { heads: number; inverse: number }
    const { rows, width } = x!.shape
    return kernels.rotary(x!.at, positions!.at, frequencies!.at, outputs[0]!.at, rows, heads, width / heads, inverse)
  },
}

/** Ops that look numbers up, or turn them by their places (W2.11). */
export const tables = { embed, embedBackward, rotary } as const satisfies Record<string, WorkOp>
