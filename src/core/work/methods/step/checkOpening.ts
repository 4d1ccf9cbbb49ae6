import { equalBytes } from '../../../bytes/bytes.ts'
import type { Pointer } from '../../../engine/kernels.ts'
import { HASH_BYTES } from '../../../proof/merkle.ts'
import { CODED_TOGETHER, QUAD_BYTES, stepTableBytes } from '../../stepKernels.ts'
import { proofBytes } from '../../tensorTree.ts'
import { climb } from '../../workEngine.ts'
import { areBelowP, encodeQuads, isSame, NUMBER_CHANCE, plus, powersOf, type Quad, times, ZERO } from './field31.ts'
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
  readonly size: 1 | 4
  /** Which of a column's two leaves. */
  readonly leaf: 0 | 1
  /** The first of its rows in the whole matrix, and how many. */
  readonly first: number
  readonly rows: number
}

/** Rows of a tensor's code in the clear, and their bytes as they were said. */
interface ShownRows {
  readonly tensor: PlacedTensor
  readonly rows: readonly number[]
  readonly bytes: Uint8Array
}

interface Opened {
  readonly rho: Quad
  readonly classes: readonly ClaimClass[]
  readonly said: readonly Uint8Array[]
  readonly shown: readonly ShownRows[]
  readonly columns: readonly number[]
  readonly parts: readonly ColumnPart[]
  readonly beside: Uint8Array
}

type Take = (length: number) => Uint8Array | null

function taking(bytes: Uint8Array): Take {
  let at = 0
  return (length) => {
    if (at + length > bytes.length) return null
    at += length
    return bytes.subarray(at - length, at)
  }
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
  const take = taking(bytes)
  transcript.absorb(claims.map(({ value }) => value))
  const rho = transcript.draw(1)[0]!
  const classes = classesOf(layout, claims)
  const said = allOf(classes.map((each) => take(QUAD_BYTES * numbersOf(layout, each))))
  if (!said?.every(areBelowP)) return null
  transcript.absorbBytes(rootOf(rooms, said))
  const shown = allOf(
    revealedRows(layout, reveals).map(({ tensor, rows }) => {
      const found = take(shownBytes(tensor, rows))
      return found && { tensor, rows, bytes: found }
    }),
  )
  if (!shown) return null
  transcript.absorbBytes(
    rootOf(
      rooms,
      shown.map((each) => each.bytes),
    ),
  )
  const columns = ascending(transcript.places(COLUMNS, codeLength(layout)))
  const parts = readColumns(rooms, layout, columns, take)
  const beside = take(proofBytes(layout.low + 2, leavesOfColumns(columns)))
  if (!parts || !beside || take(1)) return null
  return { rho, classes, said, shown, columns, parts, beside }
}

function rootOf(rooms: StepRooms, parts: readonly Uint8Array[]): Uint8Array {
  return rooms.during(() => {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0)
    const at = rooms.room(bytes)
    let next = at
    for (const part of parts) {
      rooms.bytes(next, part.length).set(part)
      next += part.length
    }
    return rootOfBytes(rooms, at, bytes)
  })
}

const allOf = <T>(found: readonly (T | null)[]): readonly T[] | null =>
  found.every((one) => one !== null) ? (found as readonly T[]) : null

function readColumns(rooms: StepRooms, layout: StepLayout, columns: readonly number[], take: Take) {
  const k = 2 ** layout.low
  const [own, further] = [columns.filter((at) => at < k), columns.filter((at) => at >= k)]
  const { i8, i32 } = layout.rows
  const expected = [
    { columns: own, size: 1, leaf: 0, first: 0, rows: i8 },
    { columns: own, size: 4, leaf: 1, first: i8, rows: i32 },
    { columns: further, size: 4, leaf: 0, first: 0, rows: i8 },
    { columns: further, size: 4, leaf: 1, first: i8, rows: i32 },
  ] as const
  const found = expected.map((part): ColumnPart | null => {
    const bytes = take(part.columns.length * part.size * part.rows)
    if (!bytes || (part.columns === further && !areBelowP(bytes))) return null
    return { ...part, at: rooms.putBytes(bytes) }
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
  const leaves = new Map<number, Uint8Array>()
  for (const { at, columns: here, size, leaf, rows } of parts)
    for (const [i, hash] of hashColumns(rooms, at, here.length, size * rows).entries())
      leaves.set(2 * here[i]! + leaf, hash)
  const ascending = leavesOfColumns(columns)
  if (leaves.size !== ascending.length) throw new RangeError('columns of another number')
  return rooms.during(() => {
    const below = rooms.room(3 * HASH_BYTES * ascending.length)
    const above = below + 2 * HASH_BYTES * ascending.length
    for (const [i, leaf] of ascending.entries()) rooms.bytes(above + HASH_BYTES * i, HASH_BYTES).set(leaves.get(leaf)!)
    return equalBytes(climb(rooms.engine, { below, above }, layout.low + 2, ascending, beside), root)
  })
}

/** What a class said, padding filled with 0. */
function putClass(rooms: StepRooms, layout: StepLayout, { width, wide }: ClaimClass, said: Uint8Array): Pointer {
  const all = QUAD_BYTES * 2 ** layout.low
  const at = rooms.zeros(all)
  spread(said, QUAD_BYTES * width, rooms.bytes(at, all), QUAD_BYTES * 2 ** wide)
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
  let beta = classes.length
  for (const { tensor, rows } of shown)
    for (const row of rows) {
      const at = weights + QUAD_BYTES * (rowOf(layout, tensor) + row)
      rooms.bytes(at, QUAD_BYTES).set(encodeQuads([plus(rooms.read(at, 1)[0]!, betas[beta++]!)]))
    }
  return weights
}

/** Adds the shown rows of a tensor to a word, each by its own factor; where the next factor lies. */
function addShown(
  rooms: StepRooms,
  k: number,
  { tensor, rows, bytes }: ShownRows,
  by: Pointer,
  word: Pointer,
): Pointer {
  rooms.during(() => {
    const all = rooms.room(rows.length * tensor.size * k)
    const to = rooms.bytes(all, rows.length * tensor.size * k)
    const [width, apart] = [tensor.size * tensor.width, tensor.size * 2 ** tensor.wide]
    if (bytes.length < to.length) to.fill(0)
    let at = 0
    for (const [i, row] of rows.entries()) {
      const length = rowsInCodeRow(tensor, row) * width
      spread(bytes.subarray(at, at + length), width, to.subarray(i * tensor.size * k), apart)
      at += length
    }
    rooms.kernels.stepColumns(all, by, word, tensor.size, rows.length, k)
  })
  return by + QUAD_BYTES * rows.length
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
    for (const each of shown) beta = addShown(rooms, k, each, beta, word)
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

/** W12.1.7, W12.1.8. Whether all claims hold of what is under the root; the rows asked for, one answer for each reveal. */
export function checkOpening(
  engine: StepEngine,
  layout: StepLayout,
  root: Uint8Array,
  claims: readonly Claim[],
  reveals: readonly Reveal[],
  transcript: StepTranscript,
  bytes: Uint8Array,
): { readonly revealed: readonly Uint8Array[] } | OpeningProblem {
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
  return { revealed: reveals.map((reveal) => revealed(reveal, shown)) }
}

/** W12.4. log2 of the chance that something wrong passes, for one try: that of the draws of numbers, and of the columns. */
export function openingError(layout: StepLayout, claims: readonly Claim[], reveals: readonly Reveal[]): number {
  const classes = classesOf(layout, claims)
  const most = Math.max(0, ...classes.map((each) => each.claims.length))
  const high = Math.max(0, ...classes.flatMap((each) => each.claims.map((claim) => claim.high.length)))
  const words = revealedRows(layout, reveals).reduce((sum, { rows }) => sum + rows.length, classes.length)
  const draws = (high + most) * codeLength(layout) + most + words
  return Math.log2((9 / 10) ** COLUMNS + draws * NUMBER_CHANCE)
}
