import type { Pointer } from '../../engine/kernels.ts'

/** Functions of elements, norms, softmax and sums of rows (W2.3, W2.5, W2.7, W2.8). As `WorkKernels` has them. */
export interface RowKernels {
  /** Element by element; `out` may be an operand. */
  add(a: Pointer, b: Pointer, out: Pointer, count: number): number
  scale(x: Pointer, out: Pointer, count: number, factor: number): number
  gelu(x: Pointer, out: Pointer, count: number): number
  geluBackward(x: Pointer, dy: Pointer, out: Pointer, count: number): number
  relu(x: Pointer, out: Pointer, count: number): number
  reluBackward(x: Pointer, dy: Pointer, out: Pointer, count: number): number
  /** silu(gate) * up */
  siluProduct(gate: Pointer, up: Pointer, out: Pointer, count: number): number
  siluProductBackwardGate(gate: Pointer, up: Pointer, dy: Pointer, out: Pointer, count: number): number
  siluProductBackwardUp(gate: Pointer, dy: Pointer, out: Pointer, count: number): number

  /** W2.8.1. The norms without a mean are root mean square norms. */
  rowMean(x: Pointer, out: Pointer, rows: number, width: number): number
  normInverse(x: Pointer, meanOrNone: Pointer, out: Pointer, rows: number, width: number, epsilon: number): number
  /** W2.8.2 */
  norm(
    x: Pointer,
    meanOrNone: Pointer,
    inverse: Pointer,
    gain: Pointer,
    shiftOrNone: Pointer,
    out: Pointer,
    rows: number,
    width: number,
  ): number
  /** W2.8.3. The gradient of x. */
  normBackward(
    x: Pointer,
    meanOrNone: Pointer,
    inverse: Pointer,
    gain: Pointer,
    dy: Pointer,
    out: Pointer,
    rows: number,
    width: number,
  ): number
  /** W2.8.4. The gain's gradient is the column sum of these; the shift's that of dy. */
  normGainTerms(
    x: Pointer,
    meanOrNone: Pointer,
    inverse: Pointer,
    dy: Pointer,
    out: Pointer,
    rows: number,
    width: number,
  ): number

  /** W2.7. With a period, row r sees (first + r) mod period + 1 columns; with 0, all. */
  rowMaximum(x: Pointer, out: Pointer, rows: number, width: number, period: number, first: number): number
  /** W2.8.5. The sum of exp(x - maximum). */
  exponentialSum(
    x: Pointer,
    maximum: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    period: number,
    first: number,
  ): number
  /** W2.8.6. What a row does not see is +0. */
  exponential(
    x: Pointer,
    maximum: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    period: number,
    first: number,
  ): number
  /** W2.8.7. `dot` has one number for each row. */
  exponentialBackward(
    e: Pointer,
    gradient: Pointer,
    dot: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    period: number,
    first: number,
  ): number
  /** W2.8.8. Targets are u32 columns or NO_TARGET. */
  crossEntropy(
    x: Pointer,
    maximum: Pointer,
    sum: Pointer,
    targets: Pointer,
    out: Pointer,
    rows: number,
    width: number,
  ): number
  /** W2.8.9. `firstColumn` is the number of the first column here. */
  crossEntropyBackward(
    x: Pointer,
    maximum: Pointer,
    sum: Pointer,
    targets: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    firstColumn: number,
    factor: number,
  ): number
  /** W2.8.10. One sum of a * b for each row. */
  rowDot(a: Pointer, b: Pointer, out: Pointer, rows: number, width: number): number
  /** W2.8.11. x / divisor, one divisor for each row. */
  divideRows(x: Pointer, divisor: Pointer, out: Pointer, rows: number, width: number): number
  /** W2.7. u32 for each row. */
  argmax(x: Pointer, out: Pointer, rows: number, width: number): number

  /** W2.5. One sum for each row. */
  rowSum(x: Pointer, out: Pointer, rows: number, width: number): number
  /** W2.5. Columns first … first + columns - 1 over all rows; x points at the whole row 0. */
  columnSum(x: Pointer, out: Pointer, rows: number, width: number, first: number, columns: number): number
  /** W2.5. One sum of squares for each 4,096 elements; rowSum of these is the tensor's. */
  squareSums(x: Pointer, out: Pointer, count: number): number
}
