import { alignUp, type Pointer } from '../../src/core/engine/kernels.ts'
import { sceneTensors, type Vector } from '../../src/core/work/kinds/rendering/scene.ts'
import { MASK, NO_TARGET, NONE, type WorkKernels } from '../../src/core/work/workKernels.ts'

/** Tensors laid one after the other; the same offsets in every build. */
export class Arena {
  readonly #puts: { at: Pointer; bytes: Uint8Array }[] = []
  #next: Pointer
  constructor(start: Pointer) {
    this.#next = start
  }
  get end(): Pointer {
    return this.#next
  }
  put(values: Float32Array | Int8Array | Uint32Array | Int32Array | Uint8Array): Pointer {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    const at = this.room(bytes.length)
    this.#puts.push({ at, bytes })
    return at
  }
  putAt(at: Pointer, bytes: Uint8Array): void {
    this.#puts.push({ at, bytes })
    this.#next = Math.max(this.#next, alignUp(at + bytes.length, 16))
  }
  room(bytes: number): Pointer {
    const at = this.#next
    this.#next = alignUp(at + bytes, 16)
    return at
  }
  /** Everything from the start on, rooms filled with 0. */
  fill(memory: Uint8Array, start: Pointer): void {
    memory.fill(0, start, this.#next)
    for (const { at, bytes } of this.#puts) memory.set(bytes, at)
  }
}

/** Chance for trials; whole numbers are drawn with both ends. */
export interface Chance {
  whole(from: number, to: number): number
  floats(count: number, size?: number): Float32Array
  bytes(count: number): Int8Array
  words(count: number, below?: number): Uint32Array
  one<T>(of: readonly T[]): T
}

/** A seeded generator: trials are the same on every run. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0
  const word = (): number => {
    state = (state + 0x9e3779b9) >>> 0
    let x = state
    x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
    return (x ^ (x >>> 15)) >>> 0
  }
  const whole = (from: number, to: number) => from + (word() % (to - from + 1))
  const one = <T>(of: readonly T[]): T => of[whole(0, of.length - 1)]!
  /** Mostly of ordinary size; zeros of both signs, tiny, denormal and large ones among them. */
  const float = (size: number): number => {
    const kind = word() % 32
    if (kind === 0) return one([0, -0, 1, -1, 2 ** -126, -(2 ** -149), 2 ** -140, 2 ** -100])
    if (kind === 1) return (word() / 2 ** 31 - 1) * size * 2 ** whole(-40, 6)
    return (word() / 2 ** 31 - 1) * size
  }
  return {
    whole,
    one,
    floats: (count, size = 4) => Float32Array.from({ length: count }, () => float(size)),
    bytes: (count) => Int8Array.from({ length: count }, () => whole(-127, 127)),
    words: (count, below = 2 ** 32) => Uint32Array.from({ length: count }, () => word() % below),
  }
}

export type Trial = (kernels: WorkKernels) => number

const WIDTHS = [1, 2, 7, 8, 31, 32, 33, 63, 64, 100, 256, 300]
const positive = (values: Float32Array): Float32Array => values.map((x) => Math.abs(x) + 2 ** -20)

/** Rows and a width, most of them small, one in sixteen beyond a piece of 4,096. */
function shape(chance: Chance): { rows: number; width: number; count: number } {
  const wide = chance.whole(0, 15) === 0
  const rows = wide ? 1 : chance.whole(1, 6)
  const width = wide ? chance.one([4095, 4096, 4097, 8192, 12_345]) : chance.one(WIDTHS)
  return { rows, width, count: rows * width }
}

function folds(arena: Arena, chance: Chance, rows: number, width: number) {
  const rowsEach = chance.whole(1, 3)
  const first = chance.whole(0, 2)
  const vectors = Math.floor((first + rows - 1) / rowsEach) + 1
  const fold = chance.one([NONE, arena.put(positive(chance.floats(vectors * width, 1)))])
  return { rowsEach, first, fold }
}

const draw = (chance: Chance) => [...chance.words(4)] as [number, number, number, number]

function quantising(arena: Arena, chance: Chance) {
  const { rows, width, count } = shape(chance)
  const piece = chance.one([width, Math.ceil(width / 2), chance.whole(1, width)])
  const scales = rows * Math.ceil(width / piece)
  const x = arena.put(chance.floats(count, chance.one([1, 1e-3, 1e30, 1e-36])))
  return { rows, width, count, piece, scales, x, ...folds(arena, chance, rows, width) }
}

const unary =
  (op: 'gelu' | 'relu') =>
  (arena: Arena, chance: Chance): Trial => {
    const count = chance.whole(1, 700)
    const [x, out] = [arena.put(chance.floats(count, chance.one([1, 8, 100]))), arena.room(4 * count)]
    return (kernels) => kernels[op](x, out, count)
  }

const binary =
  (op: 'add' | 'geluBackward' | 'reluBackward' | 'siluProduct' | 'siluProductBackwardUp') =>
  (arena: Arena, chance: Chance): Trial => {
    const count = chance.whole(1, 700)
    const operand = () => arena.put(chance.floats(count, chance.one([1, 8, 100])))
    const [a, b, out] = [operand(), operand(), arena.room(4 * count)]
    return (kernels) => kernels[op](a, b, out, count)
  }

const moment =
  (op: 'adamWFirst' | 'adamWSecond' | 'sgdVelocity') =>
  (arena: Arena, chance: Chance): Trial => {
    const count = chance.whole(1, 300)
    const [moments, g] = [arena.put(chance.floats(count, 1e-2)), arena.put(chance.floats(count, 1))]
    const [clip, out] = [arena.put(positive(chance.floats(1, 1))), arena.room(4 * count)]
    const beta = chance.one([0.5, Math.fround(0.9), Math.fround(0.95)])
    return (kernels) => kernels[op](moments, g, clip, out, count, beta)
  }

function normed(arena: Arena, chance: Chance) {
  const { rows, width, count } = shape(chance)
  const [x, dy] = [arena.put(chance.floats(count)), arena.put(chance.floats(count))]
  const mean = chance.one([NONE, arena.put(chance.floats(rows, 1))])
  const inverse = arena.put(positive(chance.floats(rows)))
  const [gain, out] = [arena.put(chance.floats(width, 2)), arena.room(4 * count)]
  return { rows, width, x, dy, mean, inverse, gain, out }
}

function attended(arena: Arena, chance: Chance) {
  const { rows, width, count } = shape(chance)
  const x = arena.put(chance.floats(count, chance.one([1, 20, 200])))
  const period = chance.one([0, chance.whole(1, 2 * width)])
  return { rows, width, count, x, period, first: chance.whole(0, 5), out: arena.room(4 * count) }
}

function judged(arena: Arena, chance: Chance) {
  const { rows, width, count } = shape(chance)
  const x = arena.put(chance.floats(count, 10))
  const [maximum, sum] = [arena.put(chance.floats(rows, 10)), arena.put(positive(chance.floats(rows, 50)))]
  const targets = arena.put(chance.words(rows, width).map((t) => chance.one([t, t, t, NO_TARGET])))
  return { rows, width, x, maximum, sum, targets, out: arena.room(4 * count) }
}

function transposed(op: 'transposeBytes' | 'transposeFloats', bytes: number) {
  return (arena: Arena, chance: Chance): Trial => {
    const [rows, width] = [chance.whole(1, 80), chance.whole(1, 80)]
    const first = chance.whole(0, width - 1)
    const columns = chance.whole(1, width - first)
    const x = arena.put(chance.bytes(bytes * rows * width))
    const out = arena.room(bytes * rows * columns)
    return (kernels) => kernels[op](x, out, rows, width, first, columns)
  }
}

/** Flags of cells: mostly fluid, some with walls, solid or driven. */
const flagsOf = (chance: Chance, blocks: number): Uint32Array =>
  chance.words(64 * blocks, 2 ** 20).map((flags) => chance.one([0, 0, flags & 0x7fffe, flags]))

/** Triangles near the origin, of five materials, with their tree and a camera. */
export function sceneOf(chance: Chance, triangles: number): ReadonlyMap<string, Uint8Array> {
  const corner = () => [...chance.floats(3, 2)].map((x) => Math.min(Math.abs(x), 2) * Math.sign(x)) as unknown as Vector
  const sorts = ['diffuse', 'metal', 'glass', 'diffuse', 'diffuse'] as const
  return sceneTensors(
    {
      triangles: Array.from({ length: triangles }, () => ({
        corners: [corner(), corner(), corner()],
        material: chance.whole(0, 4),
      })),
      materials: sorts.map((sort, i) => ({
        ...{ colour: [0.8, 0.7, 0.6], emission: i === 4 ? [4, 3, 2] : [0, 0, 0], roughness: 0.25, sort },
      })),
      camera: { eye: [0.3, 0.5, 5], target: [0, 0, 0], fieldOfView: 50 },
    },
    { width: 24, height: 16 },
  )
}

/** For every op a way to make a trial of random shapes and numbers. */
export const WORK_TRIALS: Readonly<Record<keyof WorkKernels, (arena: Arena, chance: Chance) => Trial>> = {
  product: (arena, chance) => {
    const [rows, columns] = [chance.whole(1, 70), chance.one([1, 5, 31, 32, 33, 64, 70])]
    const k = chance.one([1, 2, 3, 4, 5, 31, 64, 100, 513, 1024, 1030])
    const [batches, shared] = [chance.whole(1, 3), chance.whole(1, 2)]
    const mask = chance.one(Object.values(MASK))
    const a = arena.put(chance.bytes(batches * rows * k))
    const b = arena.put(chance.bytes(Math.ceil(batches / shared) * columns * k))
    const out = arena.room(4 * batches * rows * columns)
    const first = chance.whole(0, 40)
    return (kernels) => kernels.product(a, b, out, rows, columns, k, batches, shared, mask, first)
  },
  productPieces: (arena, chance) => {
    const [rows, columns, k] = [chance.whole(1, 140), chance.whole(1, 70), chance.whole(1, 300)]
    const piece = chance.whole(1, k)
    const [batches, shared] = [chance.whole(1, 3), chance.whole(1, 2)]
    const a = arena.put(chance.bytes(batches * rows * k))
    const scales = arena.put(positive(chance.floats(batches * rows * Math.ceil(k / piece), 1e-3)))
    const b = arena.put(chance.bytes(Math.ceil(batches / shared) * columns * k))
    const out = arena.room(4 * batches * rows * columns)
    return (kernels) => kernels.productPieces(a, scales, b, out, rows, columns, k, piece, batches, shared)
  },
  rowScale: (arena, chance) => {
    const { x, fold, rows, width, piece, first, rowsEach, scales } = quantising(arena, chance)
    const out = arena.room(4 * scales)
    return (kernels) => kernels.rowScale(x, fold, out, rows, width, piece, first, rowsEach)
  },
  quantise: (arena, chance) => {
    const { x, fold, rows, width, piece, first, rowsEach, scales, count } = quantising(arena, chance)
    const [s, out] = [arena.room(4 * scales), arena.room(count)]
    return (kernels) =>
      kernels.rowScale(x, fold, s, rows, width, piece, first, rowsEach) |
      kernels.quantise(x, fold, s, out, rows, width, piece, first, rowsEach)
  },
  quantiseStochastic: (arena, chance) => {
    const { x, fold, rows, width, piece, first, rowsEach, scales, count } = quantising(arena, chance)
    const [s, out] = [arena.room(4 * scales), arena.room(count)]
    const [key, index] = [draw(chance), chance.one([0, 5, 2 ** 35 - 3, 2 ** 45 + 7])]
    return (kernels) =>
      kernels.rowScale(x, fold, s, rows, width, piece, first, rowsEach) |
      kernels.quantiseStochastic(x, fold, s, out, rows, width, piece, first, rowsEach, ...key, index, width)
  },
  dequantise: (arena, chance) => {
    const { rows, width, count } = shape(chance)
    const sums = arena.put(new Int32Array(chance.words(count).buffer))
    const rowScales = arena.put(positive(chance.floats(rows, 1e-3)))
    const { fold: columns, first, rowsEach } = folds(arena, chance, rows, width)
    const bias = chance.one([NONE, arena.put(chance.floats(width))])
    const out = arena.room(4 * count)
    const factor = chance.one([1, 0.125, Math.fround(0.3)])
    return (kernels) => kernels.dequantise(sums, rowScales, columns, bias, out, rows, width, first, rowsEach, factor)
  },
  faultyFloats: (arena, chance) => {
    const values = chance.floats(chance.whole(1, 300))
    const bad = chance.one([0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    values[chance.whole(0, values.length - 1)] = bad
    const x = arena.put(values)
    return (kernels) => kernels.faultyFloats(x, values.length)
  },
  faultyBytes: (arena, chance) => {
    const values = chance.bytes(chance.whole(1, 300))
    values[chance.whole(0, values.length - 1)] = chance.one([127, -127, -128])
    const x = arena.put(values)
    return (kernels) => kernels.faultyBytes(x, values.length)
  },
  add: binary('add'),
  scale: (arena, chance) => {
    const count = chance.whole(1, 300)
    const [x, out] = [arena.put(chance.floats(count)), arena.room(4 * count)]
    return (kernels) => kernels.scale(x, out, count, Math.fround(1 / 3))
  },
  gelu: unary('gelu'),
  geluBackward: binary('geluBackward'),
  relu: unary('relu'),
  reluBackward: binary('reluBackward'),
  siluProduct: binary('siluProduct'),
  siluProductBackwardGate: (arena, chance) => {
    const count = chance.whole(1, 300)
    const operand = () => arena.put(chance.floats(count, chance.one([1, 8, 100])))
    const [gate, up, dy, out] = [operand(), operand(), operand(), arena.room(4 * count)]
    return (kernels) => kernels.siluProductBackwardGate(gate, up, dy, out, count)
  },
  siluProductBackwardUp: binary('siluProductBackwardUp'),
  rowMean: (arena, chance) => {
    const { x, rows, width } = normed(arena, chance)
    const out = arena.room(4 * rows)
    return (kernels) => kernels.rowMean(x, out, rows, width)
  },
  normInverse: (arena, chance) => {
    const { x, mean, rows, width } = normed(arena, chance)
    const out = arena.room(4 * rows)
    return (kernels) => kernels.normInverse(x, mean, out, rows, width, Math.fround(1e-5))
  },
  norm: (arena, chance) => {
    const { x, mean, inverse, gain, out, rows, width } = normed(arena, chance)
    const shift = chance.one([NONE, arena.put(chance.floats(width))])
    return (kernels) => kernels.norm(x, mean, inverse, gain, shift, out, rows, width)
  },
  normBackward: (arena, chance) => {
    const { x, mean, inverse, gain, dy, out, rows, width } = normed(arena, chance)
    return (kernels) => kernels.normBackward(x, mean, inverse, gain, dy, out, rows, width)
  },
  normGainTerms: (arena, chance) => {
    const { x, mean, inverse, dy, out, rows, width } = normed(arena, chance)
    return (kernels) => kernels.normGainTerms(x, mean, inverse, dy, out, rows, width)
  },
  rowMaximum: (arena, chance) => {
    const { x, rows, width, period, first } = attended(arena, chance)
    const out = arena.room(4 * rows)
    return (kernels) => kernels.rowMaximum(x, out, rows, width, period, first)
  },
  exponentialSum: (arena, chance) => {
    const { x, rows, width, period, first } = attended(arena, chance)
    const [maximum, out] = [arena.room(4 * rows), arena.room(4 * rows)]
    return (kernels) =>
      kernels.rowMaximum(x, maximum, rows, width, period, first) |
      kernels.exponentialSum(x, maximum, out, rows, width, period, first)
  },
  exponential: (arena, chance) => {
    const { x, rows, width, period, first, out } = attended(arena, chance)
    const maximum = arena.room(4 * rows)
    return (kernels) =>
      kernels.rowMaximum(x, maximum, rows, width, period, first) |
      kernels.exponential(x, maximum, out, rows, width, period, first)
  },
  exponentialBackward: (arena, chance) => {
    const { x, rows, width, count, period, first, out } = attended(arena, chance)
    const [gradient, dot] = [arena.put(chance.floats(count)), arena.put(chance.floats(rows))]
    return (kernels) => kernels.exponentialBackward(x, gradient, dot, out, rows, width, period, first)
  },
  rowDot: (arena, chance) => {
    const { x, dy, rows, width } = normed(arena, chance)
    const out = arena.room(4 * rows)
    return (kernels) => kernels.rowDot(x, dy, out, rows, width)
  },
  divideRows: (arena, chance) => {
    const { x, inverse, out, rows, width } = normed(arena, chance)
    return (kernels) => kernels.divideRows(x, inverse, out, rows, width)
  },
  crossEntropy: (arena, chance) => {
    const { x, maximum, sum, targets, out, rows, width } = judged(arena, chance)
    return (kernels) => kernels.crossEntropy(x, maximum, sum, targets, out, rows, width)
  },
  crossEntropyBackward: (arena, chance) => {
    const { x, maximum, sum, targets, out, rows, width } = judged(arena, chance)
    const first = chance.one([0, 3])
    return (kernels) =>
      kernels.crossEntropyBackward(x, maximum, sum, targets, out, rows, width, first, Math.fround(0.01))
  },
  argmax: (arena, chance) => {
    const { rows, width, count } = shape(chance)
    const [x, out] = [arena.put(chance.floats(count).map((v) => Math.round(v))), arena.room(4 * rows)]
    return (kernels) => kernels.argmax(x, out, rows, width)
  },
  rowSum: (arena, chance) => {
    const { rows, width, count } = shape(chance)
    const [x, out] = [arena.put(chance.floats(count)), arena.room(4 * rows)]
    return (kernels) => kernels.rowSum(x, out, rows, width)
  },
  columnSum: (arena, chance) => {
    const rows = chance.one([1, 31, 32, 33, 200, 4096, 4097, 8200])
    const width = rows > 4000 ? chance.whole(1, 5) : chance.whole(1, 40)
    const first = chance.whole(0, width - 1)
    const columns = chance.whole(1, width - first)
    const [x, out] = [arena.put(chance.floats(rows * width)), arena.room(4 * columns)]
    return (kernels) => kernels.columnSum(x, out, rows, width, first, columns)
  },
  squareSums: (arena, chance) => {
    const count = chance.one([1, 100, 4096, 4097, 10_000])
    const [x, out] = [arena.put(chance.floats(count)), arena.room(4 * Math.ceil(count / 4096))]
    return (kernels) => kernels.squareSums(x, out, count)
  },
  gradientNorm: (arena, chance) => {
    const tensors = chance.whole(1, 100)
    const [squares, out] = [arena.put(positive(chance.floats(tensors))), arena.room(4)]
    return (kernels) => kernels.gradientNorm(squares, out, tensors)
  },
  clipFactor: (arena, chance) => {
    const [norm, out] = [arena.put(positive(chance.floats(1))), arena.room(4)]
    return (kernels) => kernels.clipFactor(norm, out, 1)
  },
  adamWFirst: moment('adamWFirst'),
  adamWSecond: moment('adamWSecond'),
  adamWWeight: (arena, chance) => {
    const count = chance.whole(1, 300)
    const [w, m] = [arena.put(chance.floats(count, 1)), arena.put(chance.floats(count, 1e-2))]
    const v = arena.put(positive(chance.floats(count, 1e-4)))
    const out = arena.room(4 * count)
    const [rate, epsilon, decay] = [Math.fround(3e-4), Math.fround(1e-8), Math.fround(0.1)]
    const [one, two] = [Math.fround(0.271), Math.fround(0.1426)]
    return (kernels) => kernels.adamWWeight(w, m, v, out, count, rate, epsilon, decay, one, two)
  },
  sgdVelocity: moment('sgdVelocity'),
  sgdWeight: (arena, chance) => {
    const count = chance.whole(1, 300)
    const [w, v, out] = [arena.put(chance.floats(count)), arena.put(chance.floats(count)), arena.room(4 * count)]
    return (kernels) => kernels.sgdWeight(w, v, out, count, Math.fround(0.02))
  },
  transposeBytes: transposed('transposeBytes', 1),
  transposeFloats: transposed('transposeFloats', 4),
  move: (arena, chance) => {
    const [sequences, tokens, heads, run] = [2, chance.whole(1, 9), chance.whole(1, 4), chance.whole(1, 40)]
    const width = heads * run
    const x = arena.put(chance.bytes(sequences * tokens * width))
    const out = arena.room(sequences * tokens * width)
    const [from, into] = [
      [tokens * width, width, run],
      [tokens * width, run, tokens * run],
    ] as [[number, number, number], [number, number, number]]
    return (kernels) => kernels.move(x, out, run, sequences, tokens, heads, ...from, ...into)
  },
  embed: (arena, chance) => {
    const [rows, width, kinds, places] = [chance.whole(1, 9), chance.one(WIDTHS), chance.whole(1, 9), 12]
    const [tokens, positions] = [arena.put(chance.words(rows, kinds)), arena.put(chance.words(rows, places))]
    const table = arena.put(chance.floats(kinds * width))
    const placeTable = chance.one([NONE, arena.put(chance.floats(places * width))])
    const out = arena.room(4 * rows * width)
    return (kernels) => kernels.embed(tokens, positions, table, placeTable, out, rows, width, kinds, places)
  },
  rotaryFrequencies: (arena, chance) => {
    const half = chance.one([1, 16, 32, 64])
    const first = chance.whole(0, half - 1)
    const [out, base] = [arena.room(4 * half), chance.one([10_000, 500_000, 1_000_000])]
    return (kernels) => kernels.rotaryFrequencies(out, half, first, half - first, base)
  },
  rotary: (arena, chance) => {
    const [rows, heads, width] = [chance.whole(1, 5), chance.whole(1, 3), 2 * chance.whole(1, 20)]
    const x = arena.put(chance.floats(rows * heads * width))
    const positions = arena.put(chance.words(rows, chance.one([10, 131_072, 2 ** 32])))
    const frequencies = arena.put(positive(chance.floats(width / 2, 1)))
    const [out, inverse] = [arena.room(4 * rows * heads * width), chance.whole(0, 1)]
    return (kernels) => kernels.rotary(x, positions, frequencies, out, rows, heads, width, inverse)
  },
  embedBackward: (arena, chance) => {
    const [count, kinds, channels] = [chance.whole(1, 60), chance.whole(1, 9), chance.whole(1, 20)]
    const [piece, first] = [chance.whole(1, count), chance.whole(0, 3)]
    const tokens = arena.put(chance.words(count, kinds).map((t) => chance.one([t, t, t, NO_TARGET])))
    const q = arena.put(chance.bytes(channels * count))
    const scales = arena.put(positive(chance.floats(channels * Math.ceil(count / piece), 1e-3)))
    const width = first + channels + chance.whole(0, 2)
    const [scratch, out] = [arena.room(64 * kinds), arena.room(4 * kinds * width)]
    return (kernels) =>
      kernels.embedBackward(tokens, q, scales, scratch, out, count, kinds, width, first, channels, piece)
  },
  flow: (arena, chance) => {
    const blocks = [chance.whole(1, 3), chance.whole(1, 2), chance.whole(1, 3)] as const
    const count = blocks[0] * blocks[1] * blocks[2]
    const populations = arena.put(positive(chance.floats(count * 19 * 64, 0.1)))
    const [cells, out] = [arena.put(flagsOf(chance, count)), arena.room(4 * count * 19 * 64)]
    const [omega, ...vectors] = [chance.one([0.6, 1, 1.9]), ...chance.floats(6, 0.1)].map(Math.fround)
    const numbers = vectors as [number, number, number, number, number, number]
    const first = chance.whole(0, count - 1)
    return (kernels) => kernels.flow(populations, cells, out, ...blocks, first, count - first, omega!, ...numbers)
  },
  flowBegin: (arena, chance) => {
    const [count, first] = [chance.whole(1, 4), chance.one([0, 9, 2 ** 18])]
    const [cells, out] = [arena.put(flagsOf(chance, count)), arena.room(4 * count * 19 * 64)]
    const field = chance.one([NONE, arena.put(chance.floats(count * 4 * 64, 1))])
    const [x, y, z, noise] = chance.floats(4, 0.1) as unknown as [number, number, number, number]
    const [key0, key1] = draw(chance)
    return (kernels) => kernels.flowBegin(cells, field, out, first, count, x, y, z, noise, key0, key1)
  },
  flowFigures: (arena, chance) => {
    const count = chance.whole(1, 4)
    const populations = arena.put(chance.floats(count * 19 * 64, 0.1))
    const [mass, energy] = [arena.room(4 * count), arena.room(4 * count)]
    return (kernels) => kernels.flowFigures(populations, mass, energy, count)
  },
  picture: (arena, chance) => {
    const triangles = chance.whole(1, 30)
    const scene = [...sceneOf(chance, triangles).values()].map((bytes) => arena.put(bytes))
    const places = scene as [number, number, number, number, number]
    const [out, rays] = [arena.room(2 * 768), arena.room(8)]
    const numbers = [triangles, 5, 2 * triangles - 1, 24, chance.whole(0, 1), 1, 2, 2, chance.whole(1, 6)]
    const [sky, keys] = [chance.floats(6, 1), draw(chance).slice(0, 2)]
    return (kernels) => kernels.picture(...places, out, rays, ...numbers, Math.fround(1e-3), ...sky, ...keys)
  },
  fill: (arena, chance) => {
    const [count, bits] = [chance.whole(1, 100), chance.words(1)[0]!]
    const out = arena.room(4 * count)
    return (kernels) => kernels.fill(out, count, bits)
  },
  places: (arena, chance) => {
    const [count, period] = [chance.whole(1, 100), chance.whole(1, 70)]
    const [out, index] = [arena.room(4 * count), chance.one([0, 3, 2 ** 33 + 1])]
    return (kernels) => kernels.places(out, count, period, index)
  },
  leaves: (arena, chance) => {
    const [rows, bytes] = [chance.whole(1, 5), chance.one([1, 54, 55, 56, 63, 64, 119, 1023, 1024, 1025, 2100])]
    const [x, out] = [arena.put(chance.bytes(rows * bytes)), arena.room(32 * rows * Math.ceil(bytes / 1024))]
    return (kernels) => kernels.leaves(x, out, rows, bytes)
  },
  nodes: (arena, chance) => {
    const count = chance.whole(1, 20)
    const [below, out] = [arena.put(chance.bytes(64 * count)), arena.room(32 * count)]
    return (kernels) => kernels.nodes(below, out, count)
  },
  climb: (arena, chance) => {
    const [height, count] = [chance.one([1, 5, 33]), chance.whole(1, 40)]
    const places = [...new Set(Array.from(chance.words(count), (word) => (word * 5) % 2 ** height))]
    places.sort((a, b) => a - b)
    const words = Uint32Array.from(places.flatMap((place) => [place % 2 ** 32, Math.floor(place / 2 ** 32)]))
    const [hashes, leaves] = [arena.put(chance.bytes(32 * places.length)), arena.put(words)]
    const beside = arena.put(chance.bytes(32 * height * places.length))
    const room = arena.room(64 * places.length)
    return (kernels) => kernels.climb(hashes, leaves, beside, room, places.length, height)
  },
  normal: (arena, chance) => {
    const count = chance.whole(1, 100)
    const [out, mean] = [arena.room(4 * count), chance.one([0, Math.fround(0.04)])]
    const [key, index] = [draw(chance), chance.one([0, 3, 2 ** 33 + 1])]
    return (kernels) => kernels.normal(out, count, Math.fround(0.02), mean, ...key, index)
  },
  windowOrder: (arena, chance) => {
    const windows = chance.one([1, 2, 3, 5, 16, 17, 1000, 65_537, 2 ** 32 - 1])
    const first = chance.whole(0, Math.min(windows, 500) - 1)
    const count = chance.whole(1, Math.min(windows - first, 100))
    const [seed, out, epoch] = [arena.put(chance.words(8)), arena.room(4 * count), chance.whole(0, 9)]
    return (kernels) => kernels.windowOrder(seed, out, epoch, windows, first, count)
  },
  sampleNoise: (arena, chance) => {
    const { rows, width, count } = shape(chance)
    const x = arena.put(chance.floats(count))
    const [sequences, positions] = [arena.put(chance.words(rows)), arena.put(chance.words(rows))]
    const [out, first, [key0, key1]] = [arena.room(4 * count), chance.whole(0, 9), draw(chance)]
    return (kernels) => kernels.sampleNoise(x, sequences, positions, out, rows, width, first, 1.25, key0, key1)
  },
}
