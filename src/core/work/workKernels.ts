import { alignUp, type Pointer } from '../engine/kernels.ts'
import { WASM_PAGE_BYTES, type WasmMemory, webAssembly } from '../engine/webAssembly.ts'
import { FIELD_OPS, type FieldKernels } from './fieldKernels.ts'

/** No operand: where a name ends in `OrNone`, 0. So no tensor lies at 0. */
export const NONE: Pointer = 0

/** A target that teaches nothing, a token of no kind: loss and gradient are 0. */
export const NO_TARGET = 0xffffffff

/** What a product may leave out: nothing, results above the diagonal, or entries of a above the diagonal. */
export const MASK = { none: 0, result: 1, operand: 2 } as const

/**
 * The ops of exact work (docs/spec/work.md, W2), in every build with the same bits. Pointers are byte offsets into the
 * kernels' memory, multiples of 4 (rows of int8: any). Tensors lie row by row, and a pointer points at the first row, or
 * element, that the call is about: a range of a tensor, or rows gathered from one, are calls like any other. What depends
 * on a place in the whole tensor takes that place as an argument. Letters in names of arguments: i8, i32, u32, f32 tensors.
 * The answer is 1 where something written is infinite or not a number, an index is out of range or
 * a size to divide by is 0: a fault; else 0.
 *
 * `fold` and `columnScales` are rows of `width`, each shared by `rowsEach` rows; `first` is the number of the first row, so
 * that row r here uses number floor((first + r) / rowsEach). `piece` is `width` where a row has one scale.
 * `key0`, `key1`, `tensor` and `transition` name a draw (W2.2.5); `index` is the place of the first element in the whole
 * tensor, row by row.
 */
export interface WorkKernels {
  /** W2.1. Batches of a[rows][k] b[columns][k]^T as i32; `shared` batches in a row have the same b; `first` row of a mask. */
  product(
    a: Pointer,
    b: Pointer,
    out: Pointer,
    rows: number,
    columns: number,
    k: number,
    batches: number,
    shared: number,
    mask: number,
    first: number,
  ): number
  /** W2.1.4. Batches of a[rows][k], scales[rows][pieces], b[columns][k] to f32 [rows][columns]; `shared` as in a product. */
  productPieces(
    a: Pointer,
    scales: Pointer,
    b: Pointer,
    out: Pointer,
    rows: number,
    columns: number,
    k: number,
    piece: number,
    batches: number,
    shared: number,
  ): number

  /** W2.2.2. One scale for each row and piece. */
  rowScale(
    x: Pointer,
    foldOrNone: Pointer,
    scales: Pointer,
    rows: number,
    width: number,
    piece: number,
    first: number,
    rowsEach: number,
  ): number
  /** W2.2.3. To nearest even. */
  quantise(
    x: Pointer,
    foldOrNone: Pointer,
    scales: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    piece: number,
    first: number,
    rowsEach: number,
  ): number
  /** W2.2.4. */
  quantiseStochastic(
    x: Pointer,
    foldOrNone: Pointer,
    scales: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    piece: number,
    first: number,
    rowsEach: number,
    key0: number,
    key1: number,
    tensor: number,
    transition: number,
    index: number,
  ): number
  /** W2.2.6. (((sum * row) * column) * factor) + bias. */
  dequantise(
    sums: Pointer,
    rowScales: Pointer,
    columnScalesOrNone: Pointer,
    biasOrNone: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    first: number,
    rowsEach: number,
    factor: number,
  ): number
  /** W2.6. For tensors that came from outside. */
  faultyFloats(x: Pointer, count: number): number
  faultyBytes(x: Pointer, count: number): number

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

  /** W4.1. Leaves of rows, 32 bytes each. */
  leaves(x: Pointer, out: Pointer, rows: number, rowBytes: number): number
  /** W4.1. A node for each pair of the hashes below. */
  nodes(below: Pointer, out: Pointer, count: number): number

  /**
   * W6.2. Blocks first … of a lattice of blocksX * blocksY * blocksZ, one transition on; cells and out point at block
   * `first`, the populations at block 0, or with blocksX = 0 at the 61 rows that each block reads.
   */
  flow(
    populations: Pointer,
    cells: Pointer,
    out: Pointer,
    blocksX: number,
    blocksY: number,
    blocksZ: number,
    first: number,
    count: number,
    omega: number,
    velocityX: number,
    velocityY: number,
    velocityZ: number,
    pushX: number,
    pushY: number,
    pushZ: number,
  ): number
  /** W6.3. Blocks first … at the beginning; everything points at block `first`. */
  flowBegin(
    cells: Pointer,
    fieldOrNone: Pointer,
    out: Pointer,
    first: number,
    count: number,
    velocityX: number,
    velocityY: number,
    velocityZ: number,
    noise: number,
    key0: number,
    key1: number,
  ): number
  /** W6.2.6. One number for each block in each. */
  flowFigures(populations: Pointer, mass: Pointer, energy: Pointer, count: number): number

  /**
   * W7. Tiles first … of a row of tiles; 192 f32 and a count of rays for each. `scene` are the counts of triangles,
   * materials and nodes, `sky` the colours above and around.
   */
  picture(
    triangles: Pointer,
    kinds: Pointer,
    materials: Pointer,
    nodes: Pointer,
    camera: Pointer,
    out: Pointer,
    rays: Pointer,
    ...numbers: readonly number[]
  ): number

  /** W2.10.1. Fresh weights: ±mean + deviation * normal. */
  normal(
    out: Pointer,
    count: number,
    deviation: number,
    mean: number,
    key0: number,
    key1: number,
    tensor: number,
    transition: number,
    index: number,
  ): number
  /** W2.10.2. `seed` points at its 32 bytes; u32 windows. */
  windowOrder(seed: Pointer, out: Pointer, epoch: number, windows: number, first: number, count: number): number
  /** W2.10.3. x * factor + noise; argmax of it is the sample. Sequences and positions are u32, one for each row. */
  sampleNoise(
    x: Pointer,
    sequences: Pointer,
    positions: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    first: number,
    factor: number,
    key0: number,
    key1: number,
  ): number
}

/** Arguments of every op: o an offset into the memory, u 32 bits, f a float, d a whole number below 2^53. */
export const WORK_ARGUMENTS = {
  product: 'ooouuuuuuu',
  productPieces: 'oooouuuuuu',
  rowScale: 'ooouuuuu',
  quantise: 'oooouuuuu',
  quantiseStochastic: 'oooouuuuuuuuud',
  dequantise: 'ooooouuuuf',
  faultyFloats: 'od',
  faultyBytes: 'od',
  add: 'ooou',
  scale: 'oouf',
  gelu: 'oou',
  geluBackward: 'ooou',
  relu: 'oou',
  reluBackward: 'ooou',
  siluProduct: 'ooou',
  siluProductBackwardGate: 'oooou',
  siluProductBackwardUp: 'ooou',
  rowMean: 'oouu',
  normInverse: 'ooouuf',
  norm: 'oooooouu',
  normBackward: 'oooooouu',
  normGainTerms: 'ooooouu',
  rowMaximum: 'oouuuu',
  exponentialSum: 'ooouuuu',
  exponential: 'ooouuuu',
  exponentialBackward: 'oooouuuu',
  rowDot: 'ooouu',
  divideRows: 'ooouu',
  crossEntropy: 'ooooouu',
  crossEntropyBackward: 'ooooouuuf',
  argmax: 'oouu',
  rowSum: 'oouu',
  columnSum: 'oouuuu',
  squareSums: 'ood',
  gradientNorm: 'oou',
  clipFactor: 'oof',
  adamWFirst: 'oooouf',
  adamWSecond: 'oooouf',
  adamWWeight: 'ooooufffff',
  sgdVelocity: 'oooouf',
  sgdWeight: 'ooouf',
  transposeBytes: 'oouuuu',
  transposeFloats: 'oouuuu',
  move: 'oouuuudddddd',
  embed: 'ooooouuuu',
  rotaryFrequencies: 'ouuuf',
  rotary: 'oooouuuu',
  embedBackward: 'ooooouuuuuu',
  fill: 'odu',
  places: 'ouud',
  leaves: 'oouu',
  nodes: 'oou',
  flow: 'ooouuuuufffffff',
  flowBegin: 'ooouuffffuu',
  flowFigures: 'ooou',
  /** Triangles, materials, nodes; width, row, first, tiles, samples, bounces; epsilon, zenith, horizon; key0, key1. */
  picture: 'ooooooouuuuuuuuufffffffuu',
  normal: 'ouffuuuud',
  windowOrder: 'oouuuu',
  sampleNoise: 'oooouuufuu',
} as const satisfies Record<keyof WorkKernels, string>

export const WORK_OPS = Object.keys(WORK_ARGUMENTS) as readonly (keyof WorkKernels)[]

/** Kernels with a memory of their own that grows when asked: for checkers, in Node and in a browser. */
export interface OwnedWorkKernels {
  readonly kernels: WorkKernels
  readonly field: FieldKernels
  /** The first byte that is free. */
  readonly free: Pointer
  /** The memory, at least `bytes` from `free` on. Ask again after it grew: an older buffer is detached then. */
  memory(bytes: number): ArrayBuffer
}

type Call = (...args: readonly number[]) => number

type WasmExports = Record<keyof WorkKernels | keyof FieldKernels, Call> & {
  readonly memory: WasmMemory
  readonly __heap_base: { readonly value: Pointer }
}

/** The ops in WebAssembly. `wasmBytes` is kernels/built/work.wasm; reading the file is the caller's. */
export async function createWorkKernels(wasmBytes: Uint8Array): Promise<OwnedWorkKernels> {
  const module = await webAssembly.compile(wasmBytes)
  const { exports } = await webAssembly.instantiate<WasmExports>(module, {})
  const free = alignUp(exports.__heap_base.value, 64)
  const callOf =
    (name: keyof WorkKernels | keyof FieldKernels): Call =>
    (...args) =>
      exports[name](0, ...args)
  const memory = (bytes: number): ArrayBuffer => {
    const missing = free + bytes - exports.memory.buffer.byteLength
    if (missing > 0) exports.memory.grow(Math.ceil(missing / WASM_PAGE_BYTES))
    return exports.memory.buffer
  }
  return {
    kernels: kernelsFrom(WORK_OPS, callOf),
    field: kernelsFrom(FIELD_OPS, callOf),
    free,
    memory,
  }
}

/** Every op from the function that calls it, pointers first resolved against the memory. */
export const kernelsFrom = <Name extends string>(
  names: readonly Name[],
  callOf: (name: Name) => Call,
): Record<Name, Call> => Object.fromEntries(names.map((name) => [name, callOf(name)])) as Record<Name, Call>
