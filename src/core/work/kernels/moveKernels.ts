import type { Pointer } from '../../engine/kernels.ts'

/** Optimisers, moves and tables (W2.9, W2.11). As `WorkKernels` has them. */
export interface MoveKernels {
  /** W2.9.1 */
  gradientNorm(squares: Pointer, out: Pointer, tensors: number): number
  /** W2.9.2 */
  clipFactor(norm: Pointer, out: Pointer, clip: number): number
  /** W2.9.3. `clip` points at the clip factor; results may overwrite operands. */
  adamWFirst(m: Pointer, g: Pointer, clip: Pointer, out: Pointer, count: number, beta1: number): number
  adamWSecond(v: Pointer, g: Pointer, clip: Pointer, out: Pointer, count: number, beta2: number): number
  /** m and v are the new ones. */
  adamWWeight(
    w: Pointer,
    m: Pointer,
    v: Pointer,
    out: Pointer,
    count: number,
    rate: number,
    epsilon: number,
    decay: number,
    correction1: number,
    correction2: number,
  ): number
  /** W2.9.4 */
  sgdVelocity(v: Pointer, g: Pointer, clip: Pointer, out: Pointer, count: number, momentum: number): number
  /** v is the new one. */
  sgdWeight(w: Pointer, v: Pointer, out: Pointer, count: number, rate: number): number

  /** W2.11.1. Rows first … of the transposed of x[rows][width]. */
  transposeBytes(x: Pointer, out: Pointer, rows: number, width: number, first: number, columns: number): number
  transposeFloats(x: Pointer, out: Pointer, rows: number, width: number, first: number, columns: number): number
  /** W2.11.2. n0 * n1 * n2 runs of `run` bytes, at strides in bytes. */
  move(
    x: Pointer,
    out: Pointer,
    run: number,
    n0: number,
    n1: number,
    n2: number,
    x0: number,
    x1: number,
    x2: number,
    out0: number,
    out1: number,
    out2: number,
  ): number
  /** W2.11.3. Tokens and positions are u32. */
  embed(
    tokens: Pointer,
    positionsOrNone: Pointer,
    tokenTable: Pointer,
    positionTableOrNone: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    tokenKinds: number,
    positionKinds: number,
  ): number
  /** W2.11.4. base^(-i / half) for i = first … */
  rotaryFrequencies(out: Pointer, half: number, first: number, count: number, base: number): number
  /** W2.11.5. x[rows][heads * width], positions u32, frequencies f32 [width / 2]; `inverse` 1 turns back. */
  rotary(
    x: Pointer,
    positions: Pointer,
    frequencies: Pointer,
    out: Pointer,
    rows: number,
    heads: number,
    width: number,
    inverse: number,
  ): number
  /** W2.11.6. q[channels][tokens], scales[channels][pieces] to columns first … of [kinds][width]; scratch: 16 * kinds i32. NO_TARGET is no kind. */
  embedBackward(
    tokens: Pointer,
    q: Pointer,
    scales: Pointer,
    scratch: Pointer,
    out: Pointer,
    tokenCount: number,
    kinds: number,
    width: number,
    first: number,
    channels: number,
    piece: number,
  ): number

  /** W2.11.7 */
  fill(out: Pointer, count: number, bits: number): number
  /** W2.11.8. Places 0 … period - 1, over and over, as u32. */
  places(out: Pointer, count: number, period: number, index: number): number
}
