import type { Pointer } from '../engine/kernels.ts'

/** Bytes of a number of the field: two halves below 2^61 - 1, little-endian. */
export const PAIR_BYTES = 16

/** What lies in the memory begins at multiples of this. */
export const FIELD_ALIGNMENT = 64

/**
 * The kernels of sumchecks (docs/spec/work.md, W8), in every build with the same bits. Pointers are byte offsets into the
 * kernels' memory, multiples of 8 for numbers of the field and of 4 for int32. They always answer 0.
 */
export interface FieldKernels {
  /** W8.2.2. The weights of 2^coordinates indices at a point. */
  pointWeights(point: Pointer, out: Pointer, coordinates: number): number
  /** out[r] = sum of x[r][i] * weights[i] over a row. */
  rowsTimesI8(x: Pointer, weights: Pointer, out: Pointer, rows: number, width: number): number
  rowsTimesI32(x: Pointer, weights: Pointer, out: Pointer, rows: number, width: number): number
  /** out[c] = out[c] + sum of weights[r] * x[r][c] over the rows. */
  columnsTimesI8(x: Pointer, weights: Pointer, out: Pointer, rows: number, width: number): number
  pairDot(v: Pointer, w: Pointer, out: Pointer, count: number): number
  /** W8.4.2. The first and the last coefficient of a round over vectors of 2 * half numbers. */
  sumcheckRound(v: Pointer, w: Pointer, out: Pointer, half: number): number
  /** W8.4.3. v[i] = v[i] + t * (v[i + half] - v[i]). */
  sumcheckFold(v: Pointer, t: Pointer, half: number): number
  /** W8.9.2. The powers of a root below 2^count, from its powers 1, 2, 4 … */
  powers(point: Pointer, out: Pointer, count: number): number
  /** W8.9.2. 2 * half numbers in place, as coefficients of a polynomial, to its values. */
  codeOf(v: Pointer, powers: Pointer, half: number): number
  /** W8.9.3. Rows of int8 to the columns of their code; row r is at place first + r of `all`. `room` is for 16 * width. */
  codeColumnsI8(
    x: Pointer,
    powers: Pointer,
    room: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    first: number,
    all: number,
  ): number
}

/** Arguments as in WORK_ARGUMENTS. */
export const FIELD_ARGUMENTS = {
  pointWeights: 'oou',
  rowsTimesI8: 'ooouu',
  rowsTimesI32: 'ooouu',
  columnsTimesI8: 'ooouu',
  pairDot: 'ooou',
  sumcheckRound: 'ooou',
  sumcheckFold: 'oou',
  powers: 'oou',
  codeOf: 'oou',
  codeColumnsI8: 'oooouuuu',
} as const satisfies Record<keyof FieldKernels, string>

export const FIELD_OPS = Object.keys(FIELD_ARGUMENTS) as readonly (keyof FieldKernels)[]
