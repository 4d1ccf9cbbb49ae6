import { equalBytes } from '../../../bytes/bytes.ts'
import type { Pointer } from '../../../engine/kernels.ts'
import { HASH_BYTES } from '../../../proof/merkle.ts'
import { Cursor } from '../../cursor.ts'
import { CODED_TOGETHER, QUAD_BYTES, stepTableBytes } from '../../stepKernels.ts'
import { proofBytes } from '../../tensorTree.ts'
import { climb, climbBytes } from '../../workEngine.ts'
import { isSame, NUMBER_CHANCE, P, plus, powersOf, type Quad, times, ZERO } from './field31.ts'
import { hashColumns, rootOfBytes } from './stepColumns.ts'
import {
  type Claim,
  COLUMNS,
  codeLength,
  furtherColumns,
  type PlacedTensor,
  type Reveal,
  revealedRows,
  rowOf,
  rowsInCodeRow,
  type StepLayout,
  shownBytes,
} from './stepLayout.ts'
import { ascending, type ClaimClass, classesOf, leavesOfColumns, numbersOf, spread } from './stepOpening.ts'
import { type StepEngine, StepRooms } from './stepRooms.ts'
import type { StepTranscript } from './stepTranscript.ts'

/** Why an opening is not believed. */
export type OpeningProblem =
  /** Of another size, or a number in it is not in its one spelling. */
  | 'BAD_OPENING'
  /** A column is not under the root. */
  | 'COLUMN_NOT_COMMITTED'
  /** A claimed value is not that of what was said. */
  | 'WRONG_VALUE'
  /** What was said or shown is not what was committed to, or that is no code at all. */
  | 'WRONG_CODE'

/** The parts of opened columns: entries of both types, then further values of both. */
interface ColumnPart {
  readonly at: Pointer
  readonly columns: readonly number[]
  /** How many opened columns come before them. */
  readonly before: number
  readonly size: 1 | 4
  /** Which of a column's two leaves. */
  readonly leaf: 0 | 1
  /** The first of its rows in the whole matrix, and how many. */
  readonly first: number
  readonly rows: number
}

/** Bytes of an opening, and where they lie in the memory of the kernels. */
interface Stretch {
  readonly at: Pointer
  readonly bytes: Uint8Array
}

/** Rows of a tensor's code in the clear, as they were said. */
interface ShownRows extends Stretch {
  readonly tensor: PlacedTensor
  readonly rows: readonly number[]
}

interface Opened {
  readonly rho: Quad
  readonly classes: readonly ClaimClass[]
  /** What each class said. */
  readonly said: readonly Stretch[]
  readonly shown: readonly ShownRows[]
  readonly columns: readonly number[]
  readonly parts: readonly ColumnPart[]
  readonly beside: Uint8Array
}

/** Everything an opening says, absorbed in its order; null where a size or a spelling is another. */
function readOpening(
  rooms: StepRooms,
  layout: StepLayout,
  claims: readonly Claim[],
  reveals: readonly Reveal[],
  transcript: StepTranscript,
  bytes: Uint8Array,
): Opened | null {
  const cursor = new Cursor(bytes)
  transcript.absorb(claims.map(({ value }) => value))
  const rho = transcript.draw(1)[0]!
  const classes = classesOf(layout, claims)
  const said = takeParts(
    rooms,
    cursor,
    classes.map((each) => QUAD_BYTES * numbersOf(layout, each)),
  )
  if (!said || !areBelowP(rooms, said.all)) return null
  transcript.absorbBytes(rootOfBytes(rooms, said.all.at, said.all.bytes.length))
  const asked = revealedRows(layout, reveals)
  const found = takeParts(
    rooms,
    cursor,
    asked.map(({ tensor, rows }) => shownBytes(tensor, rows)),
  )
  if (!found) return null
  transcript.absorbBytes(rootOfBytes(rooms, found.all.at, found.all.bytes.length))
  const shown = asked.map((each, i) => ({ ...each, ...found.parts[i]! }))
  const columns = ascending(transcript.places(COLUMNS, codeLength(layout)))
  const parts = readColumns(rooms, layout, columns, cursor)
  const beside = cursor.take(proofBytes(layout.low + 2, leavesOfColumns(columns)))
  if (!parts || !beside || cursor.left > 0) return null
  return { rho, classes, said: said.parts, shown, columns, parts, beside }
}

/** Bytes that are next, to the memory of the kernels. */
function takeStretch(rooms: StepRooms, cursor: Cursor, length: number): Stretch | null {
  const bytes = cursor.take(length)
  return bytes && { at: rooms.putBytes(bytes), bytes }
}

/** Parts of some lengths that lie one after the other, there as well. */
function takeParts(rooms: StepRooms, cursor: Cursor, lengths: readonly number[]) {
  const all = takeStretch(
    rooms,
    cursor,
    lengths.reduce((sum, length) => sum + length, 0),
  )
  if (!all) return null
  let from = 0
  const parts = lengths.map((length): Stretch => {
    from += length
    return { at: all.at + from - length, bytes: all.bytes.subarray(from - length, from) }
  })
  return { all, parts }
}

/** Whether they are numbers mod p, each in its one spelling. */
const areBelowP = ({ kernels }: StepRooms, { at, bytes }: Stretch): boolean =>
  kernels.stepWithin(at, 0, P - 1, bytes.length / 4) === 0

const allOf = <T>(found: readonly (T | null)[]): readonly T[] | null =>
  found.every((one) => one !== null) ? (found as readonly T[]) : null

function readColumns(rooms: StepRooms, layout: StepLayout, columns: readonly number[], cursor: Cursor) {
  const k = 2 ** layout.low
  const [own, further] = [columns.filter((at) => at < k), columns.filter((at) => at >= k)]
  const { i8, i32 } = layout.rows
  const expected = [
    { columns: own, before: 0, size: 1, leaf: 0, first: 0, rows: i8 },
    { columns: own, before: 0, size: 4, leaf: 1, first: i8, rows: i32 },
    { columns: further, before: own.length, size: 4, leaf: 0, first: 0, rows: i8 },
    { columns: further, before: own.length, size: 4, leaf: 1, first: i8, rows: i32 },
  ] as const
  const found = expected.map((part): ColumnPart | null => {
    const taken = takeStretch(rooms, cursor, part.columns.length * part.size * part.rows)
    if (!taken || (part.columns === further && !areBelowP(rooms, taken))) return null
    return { ...part, at: taken.at }
  })
  return allOf(found)
}

/** W12.1.6. */
function areCommitted(
  rooms: StepRooms,
  layout: StepLayout,
  { columns, parts, beside }: Opened,
  root: Uint8Array,
): boolean {
  const leaves = leavesOfColumns(columns)
  return rooms.during(() => {
    const hashes = rooms.room(climbBytes(leaves.length, beside))
    for (const { at, columns: here, before, size, leaf, rows } of parts) {
      const to = hashes + HASH_BYTES * (2 * before + leaf)
      hashColumns(rooms, at, here.length, size * rows, to, 2 * HASH_BYTES)
    }
    return equalBytes(climb(rooms.engine, hashes, layout.low + 2, leaves, beside), root)
  })
}

/** What a class said, padding filled with 0. */
function putClass(rooms: StepRooms, layout: StepLayout, { width, wide }: ClaimClass, said: Stretch): Pointer {
  const all = QUAD_BYTES * 2 ** layout.low
  if (said.bytes.length === all) return said.at
  const at = rooms.zeros(all)
  spread(said.bytes, QUAD_BYTES * width, rooms.bytes(at, all), QUAD_BYTES * 2 ** wide)
  return at
}

/** W12.1.7. Whether what a class said leads to its claims' values. */
function hasValues(
  rooms: StepRooms,
  { coordinates, claims }: ClaimClass,
  at: Pointer,
  powers: readonly Quad[],
): boolean {
  return rooms.during(() => {
    const out = rooms.room(QUAD_BYTES)
    rooms.kernels.stepDot(at, rooms.weights(coordinates), out, 2 ** coordinates.length)
    const claimed = claims.map(({ value }, i) => times(powers[i]!, value)).reduce(plus, ZERO)
    return isSame(rooms.read(out, 1)[0]!, claimed)
  })
}

/** W12.1.8. The weight of every row of the matrix in the one sum over a column. */
function rowWeights(
  rooms: StepRooms,
  layout: StepLayout,
  opened: Opened,
  rhos: readonly Quad[],
  betas: readonly Quad[],
) {
  const { classes, shown } = opened
  const weights = rooms.zeros(QUAD_BYTES * (layout.rows.i8 + layout.rows.i32))
  for (const [c, { claims }] of classes.entries())
    for (const [i, { tensor, high }] of claims.entries())
      rooms.during(() => {
        const by = rooms.put([times(betas[c]!, rhos[i]!)])
        const to = weights + QUAD_BYTES * rowOf(layout, tensor)
        rooms.kernels.stepAdd(rooms.weights(high), by, to, tensor.codeRows)
      })
  const words = rooms.words(weights, 4 * (layout.rows.i8 + layout.rows.i32))
  let beta = classes.length
  for (const { tensor, rows } of shown)
    for (const row of rows) {
      const at = 4 * (rowOf(layout, tensor) + row)
      for (const [i, coordinate] of betas[beta++]!.entries()) words[at + i] = (words[at + i]! + coordinate) % P
    }
  return weights
}

/** Where the shown rows of a tensor lie as rows of its code, padding filled with 0. */
function putShown(rooms: StepRooms, k: number, { tensor, rows, bytes, at }: ShownRows): Pointer {
  const all = rows.length * tensor.size * k
  if (bytes.length === all) return at
  const padded = rooms.zeros(all)
  const to = rooms.bytes(padded, all)
  const [width, apart] = [tensor.size * tensor.width, tensor.size * 2 ** tensor.wide]
  let from = 0
  for (const [i, row] of rows.entries()) {
    const length = rowsInCodeRow(tensor, row) * width
    spread(bytes.subarray(from, from + length), width, to.subarray(i * tensor.size * k), apart)
    from += length
  }
  return padded
}

/** W12.1.8. Everything that was said and shown as one word; its further values, 16 to a place, begin at `further`. */
function wordOf(
  rooms: StepRooms,
  layout: StepLayout,
  { shown }: Opened,
  classes: readonly Pointer[],
  betas: readonly Quad[],
) {
  const k = 2 ** layout.low
  const { kernels } = rooms
  const word = rooms.zeros(QUAD_BYTES * k)
  const further = rooms.room(4 * CODED_TOGETHER * furtherColumns(layout))
  rooms.during(() => {
    const by = rooms.put(betas)
    for (const [c, at] of classes.entries()) kernels.stepAdd(at, by + QUAD_BYTES * c, word, k)
    let beta = by + QUAD_BYTES * classes.length
    for (const each of shown) {
      const { tensor, rows } = each
      rooms.during(() => kernels.stepColumns(putShown(rooms, k, each), beta, word, tensor.size, rows.length, k))
      beta += QUAD_BYTES * rows.length
    }
    const tables = rooms.room(stepTableBytes(layout.low))
    kernels.stepTables(tables, layout.low)
    const coordinates = rooms.room(QUAD_BYTES * k)
    const room = rooms.room(4 * CODED_TOGETHER * k)
    const [from, to] = [rooms.words(word, 4 * k), rooms.words(coordinates, 4 * k)]
    for (let i = 0; i < 4 * k; i++) to[(i & 3) * k + (i >>> 2)] = from[i]!
    kernels.stepCode(coordinates, tables, room, further, 4, 4, layout.low)
  })
  return { word, further }
}

/** W12.1.8. The word at every opened column is the sum over the column's own entries. */
function follows(
  rooms: StepRooms,
  layout: StepLayout,
  { columns, parts }: Opened,
  weights: Pointer,
  at: ReturnType<typeof wordOf>,
) {
  const k = 2 ** layout.low
  const sums = new Map<number, Quad>(columns.map((column) => [column, ZERO]))
  for (const { at: from, columns: here, size, first, rows } of parts)
    rooms.during(() => {
      const out = rooms.room(QUAD_BYTES * here.length)
      rooms.kernels.stepRows(from, weights + QUAD_BYTES * first, out, size, here.length, rows, size * rows)
      for (const [i, sum] of rooms.read(out, here.length).entries()) sums.set(here[i]!, plus(sums.get(here[i]!)!, sum))
    })
  return columns.every((column) => {
    const place = column < k ? at.word + QUAD_BYTES * column : at.further + 4 * CODED_TOGETHER * (column - k)
    return isSame(rooms.read(place, 1)[0]!, sums.get(column)!)
  })
}

/** The rows that were asked for: those of the code that hold them follow one another in what was shown. */
function revealed({ name, row, rows }: Reveal, shown: readonly ShownRows[]): Uint8Array {
  const { tensor, rows: codeRows, bytes } = shown.find((each) => each.tensor.name === name)!
  const width = tensor.size * tensor.width
  const first = Math.floor(row / 2 ** tensor.perRow)
  const before = shownBytes(tensor, codeRows.slice(0, codeRows.indexOf(first)))
  const from = before + (row - first * 2 ** tensor.perRow) * width
  const found = bytes.subarray(from, from + rows * width)
  // Words lie at multiples of 4.
  return found.byteOffset % 4 === 0 ? found : found.slice()
}

/** What an opening shows. */
export interface OpenedRows {
  /** The rows asked for, one answer for each reveal. */
  readonly revealed: readonly Uint8Array[]
  /** Whether all entries of an int32 tensor in the clear are of at most this size, below 2^31. Ask before the engine works again. */
  areWithin(name: string, most: number): boolean
}

/** W12.1.7, W12.1.8. Whether all claims hold of what is under the root, and what is shown of it. */
export function checkOpening(
  engine: StepEngine,
  layout: StepLayout,
  root: Uint8Array,
  claims: readonly Claim[],
  reveals: readonly Reveal[],
  transcript: StepTranscript,
  bytes: Uint8Array,
): OpenedRows | OpeningProblem {
  const rooms = new StepRooms(engine)
  const opened = readOpening(rooms, layout, claims, reveals, transcript, bytes)
  if (!opened) return 'BAD_OPENING'
  if (!areCommitted(rooms, layout, opened, root)) return 'COLUMN_NOT_COMMITTED'
  const { classes, shown, said, rho } = opened
  const rhos = powersOf(rho, claims.length)
  const at = classes.map((each, i) => putClass(rooms, layout, each, said[i]!))
  if (!classes.every((each, i) => hasValues(rooms, each, at[i]!, rhos))) return 'WRONG_VALUE'
  const betas = powersOf(
    transcript.draw(1)[0]!,
    shown.reduce((sum, { rows }) => sum + rows.length, classes.length),
  )
  const weights = rowWeights(rooms, layout, opened, rhos, betas)
  if (!follows(rooms, layout, opened, weights, wordOf(rooms, layout, opened, at, betas))) return 'WRONG_CODE'
  return {
    revealed: reveals.map((reveal) => revealed(reveal, shown)),
    areWithin: (name, most) =>
      shown.every(({ tensor, at, bytes }) => {
        const isWithin = () => rooms.kernels.stepWithin(at, most, 2 * most, bytes.length / tensor.size) === 0
        return tensor.name !== name || isWithin()
      }),
  }
}

/** W12.4. log2 of the chance that something wrong passes, for one try: that of the draws of numbers, and of the columns. */
export function openingError(layout: StepLayout, claims: readonly Claim[], shownRows: number): number {
  const classes = classesOf(layout, claims)
  const most = Math.max(0, ...classes.map((each) => each.claims.length))
  const high = Math.max(0, ...classes.flatMap((each) => each.claims.map((claim) => claim.high.length)))
  const draws = (high + most) * codeLength(layout) + most + classes.length + shownRows
  return Math.log2((9 / 10) ** COLUMNS + draws * NUMBER_CHANCE)
}
