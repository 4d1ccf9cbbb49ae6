import { alignUp, type Pointer } from '../engine/kernels.ts'
import { growTo, type WasmMemory, webAssembly } from '../engine/webAssembly.ts'
import { FIELD_OPS, type FieldKernels } from './fieldKernels.ts'
import type { KindKernels } from './kernels/kindKernels.ts'
import type { MoveKernels } from './kernels/moveKernels.ts'
import type { ProductKernels } from './kernels/productKernels.ts'
import type { RowKernels } from './kernels/rowKernels.ts'
import { STEP_OPS, type StepKernels } from './stepKernels.ts'

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
export interface WorkKernels extends ProductKernels, RowKernels, MoveKernels, KindKernels {}

/** Arguments of every op: o an offset into the memory, u 32 bits, f a float, d a whole number below 2^53. */
export const WORK_ARGUMENTS = {
  product: 'ooouuuuuuu',
  productPieces: 'oooouuuuuu',
  rowScale: 'ooouuuuu',
  quantise: 'oooouuuuu',
  quantiseStochastic: 'oooouuuuuuuuudd',
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
  climb: 'oooouu',
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
  readonly step: StepKernels
  /** The first byte that is free. */
  readonly free: Pointer
  /** The memory, at least `bytes` from `free` on. Ask again after it grew: an older buffer is detached then. */
  memory(bytes: number): ArrayBuffer
}

type Call = (...args: readonly number[]) => number

type OpName = keyof WorkKernels | keyof FieldKernels | keyof StepKernels

type WasmExports = Record<OpName, Call> & {
  readonly memory: WasmMemory
  readonly __heap_base: { readonly value: Pointer }
}

/** The ops in WebAssembly. `wasmBytes` is kernels/built/work.wasm; reading the file is the caller's. */
export async function createWorkKernels(wasmBytes: Uint8Array): Promise<OwnedWorkKernels> {
  const module = await webAssembly.compile(wasmBytes)
  const { exports } = await webAssembly.instantiate<WasmExports>(module, {})
  const free = alignUp(exports.__heap_base.value, 64)
  const callOf =
    (name: OpName): Call =>
    (...args) =>
      exports[name](0, ...args)
  const memory = (bytes: number): ArrayBuffer => {
    growTo(exports.memory, free + bytes)
    return exports.memory.buffer
  }
  return {
    kernels: kernelsFrom(WORK_OPS, callOf),
    field: kernelsFrom(FIELD_OPS, callOf),
    step: kernelsFrom(STEP_OPS, callOf),
    free,
    memory,
  }
}

/** Every op from the function that calls it, pointers first resolved against the memory. */
export const kernelsFrom = <Name extends string>(
  names: readonly Name[],
  callOf: (name: Name) => Call,
): Record<Name, Call> => Object.fromEntries(names.map((name) => [name, callOf(name)])) as Record<Name, Call>
