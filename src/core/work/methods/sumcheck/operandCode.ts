import { concatBytes, equalBytes, u64le } from '../../../bytes/bytes.ts'
import { taggedHash } from '../../../bytes/sha256.ts'
import type { Cursor } from '../../cursor.ts'
import type { TensorHasher, Tree } from '../../engineRun.ts'
import { PAIR_BYTES } from '../../fieldKernels.ts'
import { requireThat } from '../../refusals.ts'
import { leafSpan, leavesOf, leavesUnder, packRegion, type TensorShape, tensorBytes } from '../../tensor.ts'
import { depthOf, proofBytes, rootFromLeaves, tensorLeaf } from '../../tensorTree.ts'
import {
  COLUMNS,
  codeLength,
  columnsShape,
  isCodable,
  type Layout,
  layoutOf,
  leavesOfColumns,
  padded,
  regionOf,
  rootPowers,
  TIED_ROWS,
} from './code.ts'
import { coordinatesOf, type FieldEngine, overRows, Rooms } from './evaluate.ts'
import { encodePairs, isSame, type Pair, plus } from './field.ts'
import type { Transcript } from './transcript.ts'

/** W8.9.3. The columns alone would be those of the same numbers in other sizes (attack 492). */
export const codeOf = ({ rows, width }: TensorShape, columnsRoot: Uint8Array): Uint8Array =>
  taggedHash('tsw1/code', u64le(rows), u64le(width), columnsRoot)

/** An operand of int8, by its rows, and what it is committed under. */
export interface Operand {
  readonly shape: TensorShape
  readonly root: Uint8Array
  readonly code: Uint8Array
}

/** What whoever proves keeps of an operand: its bytes, and the columns of its code under their tree. */
export interface CodedOperand extends Operand {
  readonly bytes: Uint8Array
  readonly columns: Uint8Array
  readonly tree: Tree
}

/** Where the value of an operand is asked for, rows and columns apart. */
export interface PointOf {
  readonly row: readonly Pair[]
  readonly column: readonly Pair[]
}

/** Why an opened value is not believed. */
export type CodeProblem =
  /** Larger than the bound of the error allows. */
  | 'TOO_BIG'
  /** Of another size, or a number in it is not in its one spelling. */
  | 'BAD_OPENING'
  /** The columns do not lead to the code. */
  | 'COLUMN_NOT_COMMITTED'
  /** A row of the operand is not under its root. */
  | 'ROW_NOT_COMMITTED'
  /** Rows that were combined do not lead to what was committed to, or this is no code at all. */
  | 'WRONG_CODE'
  /** The value is another. */
  | 'WRONG_VALUE'

/** W8.9.3. Everybody who has the operand makes the same. */
export function codeOperand(
  engine: FieldEngine,
  hasher: TensorHasher,
  shape: TensorShape,
  bytes: Uint8Array,
): CodedOperand {
  requireThat(isCodable(shape), 'TOO_BIG', `an operand of ${shape.rows} x ${shape.width}`)
  requireThat(shape.type === 'i8' && bytes.length === tensorBytes(shape), 'BAD_INPUT', 'an operand has another size')
  const layout = layoutOf(shape.rows, shape.width)
  const rooms = new Rooms(engine)
  const all = columnsShape(layout)
  const out = rooms.room(tensorBytes(all))
  const powers = rootPowers(engine, rooms, layout)
  const [rows, width] = [2 ** layout.high, 2 ** layout.low]
  const room = rooms.room(4 * PAIR_BYTES * codeLength(layout))
  const stretches = [padded(bytes, shape.rows, shape.width)]
  overRows(engine, rooms, { shape: { type: 'i8', rows, width }, stretches }, (at, first, count) => {
    engine.kernels.codeColumnsI8(at, powers, room, out, count, width, first, rows)
  })
  const columns = engine.view(out, tensorBytes(all)).slice()
  const tree = hasher.tree(all, columns)
  return { shape, bytes, columns, tree, root: hasher.root(shape, bytes), code: codeOf(shape, tree.root) }
}

const ascending = (drawn: readonly number[]): readonly number[] => [...new Set(drawn)].sort((a, b) => a - b)

/** The leaves of the operand that some rows of its code are made of. */
const leavesOfRows = (shape: TensorShape, layout: Layout, rows: readonly number[]): readonly number[] =>
  ascending(
    rows.flatMap((row) => {
      const region = regionOf(shape, layout, row)
      return region ? leavesUnder(shape, region) : []
    }),
  )

/** W8.9.5. The rows combined by the weights of the point, and by plain chance: columns of the code must follow. */
export function openOperand(
  engine: FieldEngine,
  hasher: TensorHasher,
  { shape, bytes, columns: coded, tree: codeTree }: CodedOperand,
  { row, column }: PointOf,
  transcript: Transcript,
): Uint8Array {
  const layout = layoutOf(shape.rows, shape.width)
  const [rows, width] = [2 ** layout.high, 2 ** layout.low]
  const rooms = new Rooms(engine)
  const sums = rooms.room(2 * PAIR_BYTES * width)
  engine.view(sums, 2 * PAIR_BYTES * width).fill(0)
  const byPoint = rooms.weights([...column, ...row].slice(layout.low))
  const byChance = rooms.put(transcript.draw(rows))
  const stretches = [padded(bytes, shape.rows, shape.width)]
  overRows(engine, rooms, { shape: { type: 'i8', rows, width }, stretches }, (at, first, count) => {
    engine.kernels.columnsTimesI8(at, byPoint + PAIR_BYTES * first, sums, count, width)
    engine.kernels.columnsTimesI8(at, byChance + PAIR_BYTES * first, sums + PAIR_BYTES * width, count, width)
  })
  const said = engine.view(sums, 2 * PAIR_BYTES * width).slice()
  transcript.absorbBytes(said)
  const columns = ascending(transcript.places(COLUMNS, codeLength(layout)))
  const tied = leavesOfRows(shape, layout, ascending(transcript.places(TIED_ROWS, rows)))
  const each = columnsShape(layout).width
  const opened = concatBytes(...columns.map((at) => coded.subarray(at * each, (at + 1) * each)))
  const parts = tied.map((leaf) => {
    const { start, length } = leafSpan(shape, leaf)
    return bytes.subarray(start, start + length)
  })
  const leaves = concatBytes(...parts)
  const beside = codeTree.prove(leavesOfColumns(layout, columns))
  const tree = tied.length === 0 ? new Uint8Array() : hasher.tree(shape, bytes).prove(tied)
  transcript.absorbBytes(opened, leaves)
  return concatBytes(said, opened, beside, leaves, tree)
}

/** Whether bytes are numbers of the field, each half below p. */
function areNumbers(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length; at += 8) {
    const high = view.getUint32(at + 4, true)
    if (high > 0x1fffffff || (high === 0x1fffffff && view.getUint32(at, true) === 0xffffffff)) return false
  }
  return true
}

/** The root that leaves lead to; their bytes ascending, as they are. */
function rootOf(shape: TensorShape, leaves: readonly number[], bytes: Uint8Array, proof: Uint8Array): Uint8Array {
  let at = 0
  const hashes = new Map(
    leaves.map((leaf) => {
      const { length } = leafSpan(shape, leaf)
      at += length
      return [leaf, tensorLeaf(bytes.subarray(at - length, at))]
    }),
  )
  return rootFromLeaves(depthOf(leavesOf(shape)), hashes, proof)
}

/** What an opening says, once its sizes and its hashes were found right. */
interface Opened {
  readonly layout: Layout
  readonly said: Uint8Array
  readonly chance: readonly Pair[]
  readonly columns: readonly number[]
  readonly columnBytes: Uint8Array
  readonly tied: readonly number[]
  readonly leaves: readonly number[]
  readonly leafBytes: Uint8Array
}

function readOpening({ shape, root, code }: Operand, transcript: Transcript, cursor: Cursor): Opened | CodeProblem {
  if (!isCodable(shape)) return 'TOO_BIG'
  const layout = layoutOf(shape.rows, shape.width)
  const coded = columnsShape(layout)
  const chance = transcript.draw(2 ** layout.high)
  const said = cursor.take(2 * PAIR_BYTES * 2 ** layout.low)
  if (!said || !areNumbers(said)) return 'BAD_OPENING'
  transcript.absorbBytes(said)
  const columns = ascending(transcript.places(COLUMNS, codeLength(layout)))
  const tied = ascending(transcript.places(TIED_ROWS, 2 ** layout.high))
  const [ofColumns, leaves] = [leavesOfColumns(layout, columns), leavesOfRows(shape, layout, tied)]
  const columnBytes = cursor.take(columns.length * coded.width)
  const codeProof = cursor.take(proofBytes(depthOf(leavesOf(coded)), ofColumns))
  const leafBytes = cursor.take(leaves.reduce((sum, leaf) => sum + leafSpan(shape, leaf).length, 0))
  const proof = cursor.take(leaves.length === 0 ? 0 : proofBytes(depthOf(leavesOf(shape)), leaves))
  if (!columnBytes || !codeProof || !leafBytes || !proof || !areNumbers(columnBytes)) return 'BAD_OPENING'
  const columnsRoot = rootOf(coded, ofColumns, columnBytes, codeProof)
  if (!equalBytes(codeOf(shape, columnsRoot), code)) return 'COLUMN_NOT_COMMITTED'
  if (leaves.length > 0 && !equalBytes(rootOf(shape, leaves, leafBytes, proof), root)) return 'ROW_NOT_COMMITTED'
  transcript.absorbBytes(columnBytes, leafBytes)
  return { layout, said, chance, columns, columnBytes, tied, leaves, leafBytes }
}

/** The rows of the code that were opened in the tree of the operand, one after the other, as int8. */
function tiedRows(shape: TensorShape, { layout, tied, leaves, leafBytes }: Opened): Uint8Array {
  const starts = new Map<number, Uint8Array>()
  let at = 0
  for (const leaf of leaves) {
    const { length } = leafSpan(shape, leaf)
    starts.set(leaf, leafBytes.subarray(at, at + length))
    at += length
  }
  const out = new Uint8Array(tied.length * 2 ** layout.low)
  const wide = Math.min(2 ** coordinatesOf(shape.width), 2 ** layout.low)
  for (const [i, row] of tied.entries()) {
    const region = regionOf(shape, layout, row)
    if (!region) continue
    const packed = packRegion(shape, region, (leaf) => starts.get(leaf)!)
    for (let r = 0; r < region.rows; r++) {
      const part = packed.subarray(r * region.columns, (r + 1) * region.columns)
      out.set(part, i * 2 ** layout.low + r * wide)
    }
  }
  return out
}

/** W8.9.7. The value is that of what was committed to; everything is combined by draws, so that one codeword is made. */
export function checkOperand(
  engine: FieldEngine,
  operand: Operand,
  { row, column }: PointOf,
  value: Pair,
  transcript: Transcript,
  cursor: Cursor,
): CodeProblem | null {
  const opened = readOpening(operand, transcript, cursor)
  if (typeof opened === 'string') return opened
  const { layout, said, chance, columns, columnBytes, tied } = opened
  const { kernels } = engine
  const [rows, width] = [2 ** layout.high, 2 ** layout.low]
  const point = [...column, ...row]
  const rooms = new Rooms(engine)
  const word = rooms.room(PAIR_BYTES * codeLength(layout))
  engine.view(word, PAIR_BYTES * codeLength(layout)).fill(0)
  engine.view(word, said.length).set(said)
  const out = rooms.room(PAIR_BYTES)
  kernels.pairDot(word, rooms.weights(point.slice(0, layout.low)), out, width)
  if (!isSame(rooms.read(out, 1)[0]!, value)) return 'WRONG_VALUE'
  const [t, ...betas] = transcript.draw(1 + tied.length)
  const by = rooms.put([t!])
  kernels.sumcheckFold(word, by, width)
  engine.view(word + PAIR_BYTES * width, PAIR_BYTES * width).fill(0)
  overRows(
    engine,
    rooms,
    { shape: { type: 'i8', rows: tied.length, width }, stretches: [tiedRows(operand.shape, opened)] },
    (at, first, count) => void kernels.columnsTimesI8(at, rooms.put(betas.slice(first)), word, count, width),
  )
  kernels.codeOf(word, rootPowers(engine, rooms, layout), codeLength(layout) / 2)
  const weights = rooms.room(2 * PAIR_BYTES * rows)
  const byPoint = rooms.weights(point.slice(layout.low))
  engine.view(weights, PAIR_BYTES * rows).set(engine.view(byPoint, PAIR_BYTES * rows))
  engine.view(weights + PAIR_BYTES * rows, PAIR_BYTES * rows).set(encodePairs(chance))
  kernels.sumcheckFold(weights, by, rows)
  for (const [i, at] of tied.entries()) {
    const place = weights + PAIR_BYTES * at
    engine.view(place, PAIR_BYTES).set(encodePairs([plus(rooms.read(place, 1)[0]!, betas[i]!)]))
  }
  const room = rooms.room(PAIR_BYTES * rows)
  const follows = columns.every((at, i) => {
    engine.view(room, PAIR_BYTES * rows).set(columnBytes.subarray(i * PAIR_BYTES * rows, (i + 1) * PAIR_BYTES * rows))
    kernels.pairDot(room, weights, out, rows)
    return equalBytes(engine.view(out, PAIR_BYTES), engine.view(word + PAIR_BYTES * at, PAIR_BYTES))
  })
  return follows ? null : 'WRONG_CODE'
}
