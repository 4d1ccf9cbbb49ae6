import type { Pointer } from '../engine/kernels.ts'

/** Bytes of a number of the field of quads: four coordinates below p, little-endian. */
export const QUAD_BYTES = 16

/** Rows that are coded side by side; a column's share of their further values is one block of SHA-256. */
export const CODED_TOGETHER = 16
/** Rows of int8 that are one block of a column. */
export const BYTES_OF_BLOCK = 64
/** Columns that are hashed side by side: what is hashed is a multiple of them. */
export const HASHED_TOGETHER = 16
/** Bytes of a column's state while it is hashed. */
export const STATE_BYTES = 32

/** Bytes of what `stepTables` writes. */
export const stepTableBytes = (low: number): number => 8 * 6 * 2 ** (low - 2)

/**
 * The kernels of transitions by sumcheck (docs/spec/work.md, W12), in every build with the same bits. Pointers are byte
 * offsets into the kernels' memory, multiples of 64; `size` is the bytes of an entry, 1 or 4. They answer 0 but where it
 * says otherwise.
 */
export interface StepKernels {
  /** Powers of the roots that a code of 2^low entries takes. */
  stepTables(out: Pointer, low: number): number
  /** W12.1.4. Up to 16 rows of 2^low entries to their further values, 16 of each place in turn. `room` is 64 * 2^low. */
  stepCode(x: Pointer, tables: Pointer, room: Pointer, out: Pointer, size: number, rows: number, low: number): number
  /** States of columns that begin with the same block of 64 bytes. */
  stepHashBegin(states: Pointer, block: Pointer, columns: number): number
  /** 64 rows of bytes: the next block of every column. */
  stepHashBytes(states: Pointer, x: Pointer, columns: number): number
  /** 16 rows of words: the next block of every column. */
  stepHashWords(states: Pointer, x: Pointer, columns: number): number
  /** The next block of every column; they lie one after the other. */
  stepHashBlocks(states: Pointer, x: Pointer, columns: number): number
  /** The hashes of columns, `apart` bytes from each other. */
  stepHashEnd(states: Pointer, out: Pointer, columns: number, apart: number): number
  /**
   * The hashes of columns that lie one after the other, `bytes` each, all behind the same block of 64 bytes; hashes are
   * `apart` from each other. Up to 15 columns behind the last are read.
   */
  stepHashColumns(x: Pointer, block: Pointer, out: Pointer, columns: number, bytes: number, apart: number): number
  /** Some columns of rows of `width` entries, each with its entries one after the other; `columns` are words. */
  stepPick(x: Pointer, columns: Pointer, out: Pointer, size: number, rows: number, width: number, count: number): number
  /** The same of words that lie in blocks of 16 rows. */
  stepPickBlocks(x: Pointer, columns: Pointer, out: Pointer, rows: number, width: number, count: number): number
  /** W4.1. The leaves of rows, as in WorkKernels. */
  leaves(x: Pointer, out: Pointer, rows: number, rowBytes: number): number
  /** W4.1. One node for each pair of hashes. */
  nodes(below: Pointer, out: Pointer, count: number): number
  /** W4.1.3. From the hashes of leaves to the root, as in WorkKernels. */
  climb(hashes: Pointer, leaves: Pointer, beside: Pointer, room: Pointer, count: number, height: number): number
  /** out[r] = sum of x[r][i] * weights[i]; rows are `stride` bytes apart. */
  stepRows(
    x: Pointer,
    weights: Pointer,
    out: Pointer,
    size: number,
    rows: number,
    width: number,
    stride: number,
  ): number
  /** out[c] = out[c] + sum of weights[r] * x[r][c]; rows lie one after the other. */
  stepColumns(x: Pointer, weights: Pointer, out: Pointer, size: number, rows: number, width: number): number
  /** W8.2.2. The weights of 2^coordinates indices at a point. */
  stepWeights(point: Pointer, out: Pointer, coordinates: number): number
  stepDot(v: Pointer, w: Pointer, out: Pointer, count: number): number
  /** out[i] = out[i] + by * v[i]. */
  stepAdd(v: Pointer, by: Pointer, out: Pointer, count: number): number
  /** W8.4.2. The first and the last coefficient of a round over vectors of 2 * half numbers. */
  stepRound(v: Pointer, w: Pointer, out: Pointer, half: number): number
  /** W8.4.3. v[i] = v[i] + t * (v[i + half] - v[i]). */
  stepFold(v: Pointer, t: Pointer, half: number): number
  /** 1 where one of so many words is more than `most`, with `plus` added mod 2^32. */
  stepWithin(x: Pointer, plus: number, most: number, count: number): number
}

/** Arguments as in WORK_ARGUMENTS. */
export const STEP_ARGUMENTS = {
  stepTables: 'ou',
  stepCode: 'oooouuu',
  stepHashBegin: 'oou',
  stepHashBytes: 'oou',
  stepHashWords: 'oou',
  stepHashBlocks: 'oou',
  stepHashEnd: 'oouu',
  stepHashColumns: 'ooouuu',
  stepPick: 'ooouuuu',
  stepPickBlocks: 'ooouuu',
  leaves: 'oouu',
  nodes: 'oou',
  climb: 'oooouu',
  stepRows: 'ooouuuu',
  stepColumns: 'ooouuu',
  stepWeights: 'oou',
  stepDot: 'ooou',
  stepAdd: 'ooou',
  stepRound: 'ooou',
  stepFold: 'oou',
  stepWithin: 'ouuu',
} as const satisfies Record<keyof StepKernels, string>

export const STEP_OPS = Object.keys(STEP_ARGUMENTS) as readonly (keyof StepKernels)[]
