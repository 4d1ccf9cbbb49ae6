import { FIELD_ALIGNMENT, type FieldKernels, PAIR_BYTES } from '../../fieldKernels.ts'
import { rowBytes, type TensorShape } from '../../tensor.ts'
import type { WorkEngine } from '../../tensorMemory.ts'
import { decodePairs, encodePairs, type Pair } from './field.ts'

export type FieldEngine = WorkEngine<FieldKernels>

/** A matrix in stretches of rows, each where it is. */
export interface Matrix {
  readonly shape: TensorShape
  readonly stretches: readonly Uint8Array[]
}

/** Rows are met in pieces that stay in the cache. */
const PIECE_ENTRIES = 2 ** 18

export const coordinatesOf = (size: number): number => Math.ceil(Math.log2(size))

/** Rooms in the memory of an engine, one after the other. */
export class Rooms {
  readonly #engine: FieldEngine
  #end: number

  constructor(engine: FieldEngine) {
    this.#engine = engine
    this.#end = engine.start
  }

  room(bytes: number): number {
    const at = Math.ceil(this.#end / FIELD_ALIGNMENT) * FIELD_ALIGNMENT
    this.#end = at + bytes
    this.#engine.reserve(this.#end)
    return at
  }

  put = (pairs: readonly Pair[]): number => this.putBytes(encodePairs(pairs))

  putBytes(bytes: Uint8Array): number {
    const at = this.room(bytes.length)
    this.#engine.view(at, bytes.length).set(bytes)
    return at
  }

  /** W8.2.2 */
  weights(point: readonly Pair[]): number {
    const out = this.room(PAIR_BYTES * 2 ** point.length)
    this.#engine.kernels.pointWeights(this.put(point), out, point.length)
    return out
  }

  read(at: number, count: number): readonly Pair[] {
    return decodePairs(this.#engine.view(at, PAIR_BYTES * count), count)!
  }
}

/** Hands over the rows of a matrix in pieces, each copied to the same room. */
export function overRows(
  engine: FieldEngine,
  rooms: Rooms,
  { shape, stretches }: Matrix,
  meet: (at: number, firstRow: number, rows: number) => void,
): void {
  const bytes = rowBytes(shape)
  const most = Math.max(1, Math.floor(PIECE_ENTRIES / shape.width))
  const at = rooms.room(most * bytes)
  let row = 0
  for (const stretch of stretches)
    for (let from = 0; from < stretch.length; from += most * bytes) {
      const piece = stretch.subarray(from, from + most * bytes)
      engine.view(at, piece.length).set(piece)
      meet(at, row, piece.length / bytes)
      row += piece.length / bytes
    }
}

/** W8.2.3. The value of a matrix at a point, rows and columns apart. */
export function evaluate(engine: FieldEngine, matrix: Matrix, row: readonly Pair[], column: readonly Pair[]): Pair {
  const { kernels } = engine
  const { rows, width, type } = matrix.shape
  const rooms = new Rooms(engine)
  const [rowWeights, columnWeights] = [rooms.weights(row), rooms.weights(column)]
  const [values, out] = [rooms.room(PAIR_BYTES * rows), rooms.room(PAIR_BYTES)]
  const times = type === 'i8' ? kernels.rowsTimesI8 : kernels.rowsTimesI32
  overRows(engine, rooms, matrix, (at, first, count) => {
    times(at, columnWeights, values + PAIR_BYTES * first, count, width)
  })
  kernels.pairDot(values, rowWeights, out, rows)
  return rooms.read(out, 1)[0]!
}
