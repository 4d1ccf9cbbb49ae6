import { concatBytes } from '../../../bytes/bytes.ts'
import type { Pointer } from '../../../engine/kernels.ts'
import { requireThat } from '../../refusals.ts'
import { BYTES_OF_BLOCK, CODED_TOGETHER, QUAD_BYTES, stepTableBytes } from '../../stepKernels.ts'
import { missingNodes } from '../../tensorTree.ts'
import { coordinatesOf } from '../sumcheck/evaluate.ts'
import { powersOf, type Quad } from './field31.ts'
import { beginColumns, endOfColumn, finishTree, rootOfBytes } from './stepColumns.ts'
import {
  type Claim,
  COLUMNS,
  codeLength,
  furtherColumns,
  type KeptType,
  type PlacedTensor,
  type Reveal,
  revealedRows,
  rowsInCodeRow,
  type StepLayout,
  shownBytes,
  tensorOf,
} from './stepLayout.ts'
import { ascending, type ClassClaim, classesOf, leavesOfColumns, numbersOf, splitPoint, spread } from './stepOpening.ts'
import type { StepRooms } from './stepRooms.ts'
import type { StepTranscript } from './stepTranscript.ts'

const HASH_BYTES = 32
const WORD_BYTES = 4

/** The rows of one type: entries, and further values in blocks of 16 rows; states of the columns that are hashed. */
interface Part {
  readonly type: KeptType
  readonly size: 1 | 4
  readonly rows: number
  readonly entries: Pointer
  readonly further: Pointer
  readonly states: Pointer
  readonly furtherStates: Pointer
  /** Rows of a block of SHA-256. */
  readonly block: number
  added: number
  coded: number
  hashed: number
}

/** Bytes in the memory. */
interface Stretch {
  readonly at: Pointer
  readonly bytes: number
}

const combinedKey = ({ name }: PlacedTensor, high: readonly Quad[]): string => JSON.stringify([name, high])

/** W12.1. What whoever proves keeps of a transition: all tensors in one matrix, in their code, under one root. */
export class StepMatrix {
  readonly layout: StepLayout
  readonly #rooms: StepRooms
  readonly #parts: Readonly<Record<KeptType, Part>>
  readonly #tables: Pointer
  readonly #room: Pointer
  readonly #combined = new Map<string, Uint8Array>()
  /** Levels of the tree one after the other, the leaves first. */
  #tree: Pointer | null = null

  constructor(rooms: StepRooms, layout: StepLayout) {
    this.#rooms = rooms
    this.layout = layout
    this.#tables = rooms.room(stepTableBytes(layout.low))
    rooms.kernels.stepTables(this.#tables, layout.low)
    this.#room = rooms.room(WORD_BYTES * CODED_TOGETHER * 2 ** layout.low)
    this.#parts = { i8: this.#part('i8', 1, BYTES_OF_BLOCK), i32: this.#part('i32', 4, CODED_TOGETHER) }
  }

  #part(type: KeptType, size: 1 | 4, block: number): Part {
    const [rows, k] = [this.layout.rows[type], 2 ** this.layout.low]
    const blocks = (each: number, bytes: number) =>
      ((rows * bytes + endOfColumn(rows * bytes).length) / (each * bytes)) * each
    return {
      type,
      size,
      rows,
      entries: this.#rooms.room(size * k * blocks(block, size)),
      further: this.#rooms.room(WORD_BYTES * furtherColumns(this.layout) * blocks(CODED_TOGETHER, WORD_BYTES)),
      states: beginColumns(this.#rooms, k),
      furtherStates: beginColumns(this.#rooms, furtherColumns(this.layout)),
      block,
      added: 0,
      coded: 0,
      hashed: 0,
    }
  }

  #at = (part: Part, row: number): Pointer => part.entries + part.size * 2 ** this.layout.low * row
  #furtherAt = (part: Part, row: number): Pointer => part.further + WORD_BYTES * furtherColumns(this.layout) * row

  /** Those of a type in the order of the layout, as they come; the bytes are copied. */
  add(name: string, bytes: Uint8Array): void {
    const tensor = tensorOf(this.layout, name)
    const part = this.#parts[tensor.type]
    const { rows, width, size, wide, codeRows } = tensor
    requireThat(part.added === tensor.first, 'BAD_INPUT', `${name} comes out of order`)
    requireThat(bytes.length === rows * width * size, 'BAD_INPUT', `${name} has ${bytes.length} bytes`)
    const to = this.#rooms.bytes(this.#at(part, tensor.first), codeRows * size * 2 ** this.layout.low)
    if (bytes.length < to.length) to.fill(0)
    spread(bytes, width * size, to, size * 2 ** wide)
    part.added += codeRows
    this.#advance(part)
  }

  /** Where a tensor may be made so that nothing is copied; null where its rows are padded. */
  placeOf(name: string): Pointer | null {
    const tensor = tensorOf(this.layout, name)
    const isPadded = tensor.width !== 2 ** tensor.wide || tensor.rows % 2 ** tensor.perRow !== 0
    return isPadded ? null : this.#at(this.#parts[tensor.type], tensor.first)
  }

  /** The same as `add` for a tensor that was made at its place. */
  addMade(name: string): void {
    const tensor = tensorOf(this.layout, name)
    const part = this.#parts[tensor.type]
    requireThat(part.added === tensor.first, 'BAD_INPUT', `${name} comes out of order`)
    part.added += tensor.codeRows
    this.#advance(part)
  }

  /** Codes and hashes whatever is there in whole blocks. */
  #advance(part: Part): void {
    const { kernels } = this.#rooms
    const k = 2 ** this.layout.low
    while (part.coded + CODED_TOGETHER <= part.added) this.#code(part, CODED_TOGETHER)
    for (; part.hashed + part.block <= part.added; part.hashed += part.block) {
      const hash = part.size === 1 ? kernels.stepHashBytes : kernels.stepHashWords
      hash(part.states, this.#at(part, part.hashed), k)
    }
  }

  #code(part: Part, rows: number): void {
    const { kernels } = this.#rooms
    const [from, to] = [this.#at(part, part.coded), this.#furtherAt(part, part.coded)]
    kernels.stepCode(from, this.#tables, this.#room, to, part.size, rows, this.layout.low)
    if (rows === CODED_TOGETHER) kernels.stepHashBlocks(part.furtherStates, to, furtherColumns(this.layout))
    part.coded += rows
  }

  /** The root that commits to all of it. Nothing can be added afterwards. */
  finish(): Uint8Array {
    const { kernels } = this.#rooms
    const k = 2 ** this.layout.low
    const depth = this.layout.low + 2
    const tree = this.#rooms.zeros(HASH_BYTES * 2 ** (depth + 1))
    for (const [at, part] of Object.values(this.#parts).entries()) {
      requireThat(part.added === part.rows, 'BAD_INPUT', `${part.type} rows are missing`)
      this.#finishEntries(part)
      this.#finishFurther(part)
      const to = tree + HASH_BYTES * at
      kernels.stepHashEnd(part.states, to, k, 2 * HASH_BYTES)
      kernels.stepHashEnd(part.furtherStates, to + 2 * HASH_BYTES * k, furtherColumns(this.layout), 2 * HASH_BYTES)
    }
    this.#tree = tree
    return this.#rooms.bytes(finishTree(this.#rooms, tree, depth), HASH_BYTES).slice()
  }

  /** SHA-256's own end of every column, as further rows of bytes. */
  #finishEntries(part: Part): void {
    const k = 2 ** this.layout.low
    const end = endOfColumn(part.size * part.rows)
    for (let row = part.rows, i = 0; i < end.length; row++, i += part.size) {
      const to = this.#rooms.bytes(this.#at(part, row), part.size * k)
      for (let byte = 0; byte < part.size; byte++)
        for (let at = byte; at < to.length; at += part.size) to[at] = end[i + byte]!
    }
    part.added += end.length / part.size
    const coded = part.coded
    part.coded = Number.POSITIVE_INFINITY
    this.#advance(part)
    part.coded = coded
  }

  #finishFurther(part: Part): void {
    const { kernels } = this.#rooms
    const columns = furtherColumns(this.layout)
    const [first, left] = [part.coded, part.rows - part.coded]
    if (left > 0) this.#code(part, left)
    const end = endOfColumn(WORD_BYTES * part.rows)
    const blocks = (WORD_BYTES * left + end.length) / (WORD_BYTES * CODED_TOGETHER)
    for (let block = 0; block < blocks; block++) {
      const at = this.#furtherAt(part, first + block * CODED_TOGETHER)
      const from = block * CODED_TOGETHER * WORD_BYTES - WORD_BYTES * left
      const tail = end.subarray(Math.max(0, from), from + CODED_TOGETHER * WORD_BYTES)
      const view = this.#rooms.bytes(at, columns * CODED_TOGETHER * WORD_BYTES)
      for (let to = CODED_TOGETHER * WORD_BYTES - tail.length; to < view.length; to += CODED_TOGETHER * WORD_BYTES)
        view.set(tail, to)
      kernels.stepHashBlocks(part.furtherStates, at, columns)
    }
  }

  /** The rows of a tensor's code by the weights of coordinates: 2^low numbers, asked for again by the opening. */
  #codeRowsCombined(tensor: PlacedTensor, high: readonly Quad[]): Uint8Array {
    const key = combinedKey(tensor, high)
    const known = this.#combined.get(key)
    if (known !== undefined) return known
    const made = this.#rooms.during(() => {
      const out = this.#rooms.zeros(QUAD_BYTES * 2 ** this.layout.low)
      this.#combine(tensor, this.#rooms.weights(high), out)
      return this.#rooms.bytes(out, QUAD_BYTES * 2 ** this.layout.low).slice()
    })
    this.#combined.set(key, made)
    return made
  }

  #combine(tensor: PlacedTensor, weights: Pointer, sum: Pointer): void {
    const at = this.#at(this.#parts[tensor.type], tensor.first)
    this.#rooms.kernels.stepColumns(at, weights, sum, tensor.size, tensor.codeRows, 2 ** this.layout.low)
  }

  /** A tensor's rows by the weights of a point: a number for each column, 0 up to a power of two. */
  rowsCombined(name: string, row: readonly Quad[]): Pointer {
    const tensor = tensorOf(this.layout, name)
    requireThat(row.length === coordinatesOf(tensor.rows), 'BAD_INPUT', `${name} is asked at ${row.length} coordinates`)
    const { high } = splitPoint(tensor, row, [])
    const combined = this.#codeRowsCombined(tensor, high)
    const wide = 2 ** tensor.wide
    const out = this.#rooms.zeros(QUAD_BYTES * wide)
    this.#rooms.during(() => {
      const from = this.#rooms.putBytes(combined)
      const weights = this.#rooms.weights(row.slice(0, tensor.perRow))
      for (let i = 0; i < 2 ** Math.min(tensor.perRow, row.length); i++)
        this.#rooms.kernels.stepAdd(from + QUAD_BYTES * wide * i, weights + QUAD_BYTES * i, out, wide)
    })
    return out
  }

  /** A tensor's columns by the weights of a point: a number for each row, 0 up to a power of two. */
  columnsCombined(name: string, column: readonly Quad[]): Pointer {
    const tensor = tensorOf(this.layout, name)
    const { rows, wide, size } = tensor
    requireThat(column.length === wide, 'BAD_INPUT', `${name} is asked at ${column.length} coordinates`)
    const out = this.#rooms.zeros(QUAD_BYTES * 2 ** coordinatesOf(rows))
    this.#rooms.during(() => {
      const at = this.#at(this.#parts[tensor.type], tensor.first)
      this.#rooms.kernels.stepRows(at, this.#rooms.weights(column), out, size, rows, 2 ** wide, size * 2 ** wide)
    })
    return out
  }

  /** W8.2.3. The value of a tensor at a point. */
  valueAt(name: string, row: readonly Quad[], column: readonly Quad[]): Quad {
    const rooms = this.#rooms
    return rooms.during(() => {
      const [values, out] = [this.rowsCombined(name, row), rooms.room(QUAD_BYTES)]
      rooms.kernels.stepDot(values, rooms.weights(column), out, 2 ** column.length)
      return rooms.read(out, 1)[0]!
    })
  }

  /**
   * W12.1.7, W12.1.8. All claims at once, and rows in the clear; `before` is put before them. Claims are of points drawn
   * after the root was absorbed.
   */
  open(
    claims: readonly Claim[],
    reveals: readonly Reveal[],
    transcript: StepTranscript,
    before: Uint8Array = new Uint8Array(),
  ): Uint8Array {
    transcript.absorb(claims.map(({ value }) => value))
    const rho = transcript.draw(1)[0]!
    return this.#rooms.during(() => {
      const said = this.#sayClasses(claims, rho)
      transcript.absorbBytes(rootOfBytes(this.#rooms, said.at, said.bytes))
      const shown = this.#show(reveals)
      transcript.absorbBytes(rootOfBytes(this.#rooms, shown.at, shown.bytes))
      const columns = ascending(transcript.places(COLUMNS, codeLength(this.layout)))
      const parts = [said, shown, ...this.#columnsAt(columns)]
      const beside = this.#beside(leavesOfColumns(columns))
      return concatBytes(before, ...parts.map(({ at, bytes }) => this.#rooms.bytes(at, bytes)), beside)
    })
  }

  #sayClasses(claims: readonly Claim[], rho: Quad): Stretch {
    const rooms = this.#rooms
    const k = 2 ** this.layout.low
    const classes = classesOf(this.layout, claims)
    const powers = powersOf(rho, claims.length)
    const bytes = classes.reduce((sum, each) => sum + QUAD_BYTES * numbersOf(this.layout, each), 0)
    const at = rooms.room(bytes)
    let next = at
    for (const each of classes)
      rooms.during(() => {
        const sum = rooms.zeros(QUAD_BYTES * k)
        for (const [i, claim] of each.claims.entries()) rooms.during(() => this.#addClaim(claim, powers[i]!, sum))
        const width = QUAD_BYTES * each.width
        next = this.#gather(sum, QUAD_BYTES * 2 ** each.wide, width, k / 2 ** each.wide, next)
      })
    return { at, bytes }
  }

  /** Adds the rows that a claim is about, by its weights and its factor; most of operands are combined already. */
  #addClaim({ tensor, high }: ClassClaim, factor: Quad, sum: Pointer): void {
    const rooms = this.#rooms
    const by = rooms.put([factor])
    const known = this.#combined.get(combinedKey(tensor, high))
    if (known) {
      rooms.kernels.stepAdd(rooms.putBytes(known), by, sum, 2 ** this.layout.low)
      return
    }
    const weights = rooms.zeros(QUAD_BYTES * tensor.codeRows)
    rooms.kernels.stepAdd(rooms.weights(high), by, weights, tensor.codeRows)
    this.#combine(tensor, weights, sum)
  }

  /** Rows that lie `apart`, one after the other; where they end. */
  #gather(from: Pointer, apart: number, width: number, rows: number, to: Pointer): Pointer {
    const out = this.#rooms.bytes(to, rows * width)
    if (width === apart) out.set(this.#rooms.bytes(from, rows * width))
    else for (let row = 0; row < rows; row++) out.set(this.#rooms.bytes(from + row * apart, width), row * width)
    return to + rows * width
  }

  #show(reveals: readonly Reveal[]): Stretch {
    const shown = revealedRows(this.layout, reveals)
    const bytes = shown.reduce((sum, { tensor, rows }) => sum + shownBytes(tensor, rows), 0)
    const at = this.#rooms.room(bytes)
    let next = at
    for (const { tensor, rows } of shown)
      for (const row of rows) {
        const from = this.#at(this.#parts[tensor.type], tensor.first + row)
        const [apart, width] = [tensor.size * 2 ** tensor.wide, tensor.size * tensor.width]
        next = this.#gather(from, apart, width, rowsInCodeRow(tensor, row), next)
      }
    return { at, bytes }
  }

  /** The parts of opened columns: entries of int8, of int32, then further values of both. */
  #columnsAt(columns: readonly number[]): readonly Stretch[] {
    const rooms = this.#rooms
    const k = 2 ** this.layout.low
    const [own, further] = [columns.filter((at) => at < k), columns.filter((at) => at >= k)]
    const [ownAt, furtherAt] = [rooms.putWords(own), rooms.putWords(further.map((at) => at - k))]
    const parts = Object.values(this.#parts)
    return [
      ...parts.map(({ entries, size, rows }) => {
        const bytes = own.length * rows * size
        const at = rooms.room(bytes)
        rooms.kernels.stepPick(entries, ownAt, at, size, rows, k, own.length)
        return { at, bytes }
      }),
      ...parts.map((part) => {
        const bytes = further.length * part.rows * WORD_BYTES
        const at = rooms.room(bytes)
        rooms.kernels.stepPickBlocks(
          part.further,
          furtherAt,
          at,
          part.rows,
          furtherColumns(this.layout),
          further.length,
        )
        return { at, bytes }
      }),
    ]
  }

  #beside(leaves: readonly number[]): Uint8Array {
    const depth = this.layout.low + 2
    const tree = this.#tree
    if (tree === null) throw new RangeError('the matrix is not finished')
    const start = (level: number) => tree + (2 ** (depth + 1) - 2 ** (depth + 1 - level)) * HASH_BYTES
    const nodes = [...missingNodes(depth, leaves)]
    return concatBytes(...nodes.map(({ level, at }) => this.#rooms.bytes(start(level) + at * HASH_BYTES, HASH_BYTES)))
  }
}
