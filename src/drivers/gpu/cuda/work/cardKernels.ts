import { BLOCK_CELLS } from '../../../../core/work/ops/flow.ts'
import { TILE_SIDE } from '../../../../core/work/ops/picture.ts'
import { bitsOf } from '../../../../core/work/ops/shapes.ts'
import { LEAF_BYTES } from '../../../../core/work/tensor.ts'
import { kernelsFrom, WORK_ARGUMENTS, WORK_OPS, type WorkKernels } from '../../../../core/work/workKernels.ts'
import type { CudaApi, Handle, KernelArgument } from '../loadLibcuda.ts'
import type { CardProducts } from './cardProducts.ts'

/** As many threads as a block has, everywhere but in products. */
const THREADS = 256
/** Enough to fill any card; kernels over elements walk on in steps of the whole grid. */
const MOST_BLOCKS = 8192
/** Over so many numbers a row is a block's, else a warp's. As kernels/cuda/work/base.h has it. */
const PIECE = 4096
const WARPS = THREADS / 32
/** Pieces of pieces are not summed here. */
const MOST_WIDTH = PIECE * PIECE

export interface LaunchOptions {
  readonly threads?: number
  readonly sharedBytes?: number
  readonly isTogether?: boolean
  /** Another than the launcher's. */
  readonly stream?: Handle
}

/** Queues kernels of kernels/cuda/work.cu and workFused.cu on one stream. A step that writes what is no number sets the word `fault`. */
export class CardLauncher {
  readonly api: CudaApi
  readonly stream: Handle
  readonly #sources: readonly string[]
  readonly #modules = new Map<string, Handle>()
  readonly #kernels = new Map<string, Handle>()
  fault: Handle = 0n

  /** A source is compiled when a kernel of it is first asked for. */
  constructor(api: CudaApi, sources: readonly string[], stream: Handle) {
    this.api = api
    this.stream = stream
    this.#sources = sources
  }

  launch(
    name: string,
    blocks: readonly [number, number],
    args: readonly KernelArgument[],
    { threads = THREADS, sharedBytes = 0, isTogether = false, stream = this.stream }: LaunchOptions = {},
  ): void {
    let kernel = this.#kernels.get(name)
    if (kernel === undefined) {
      kernel = this.api.kernel(this.#moduleWith(`wk_${name}`), `wk_${name}`)
      if (sharedBytes > 0) this.api.allowSharedBytes(kernel, sharedBytes)
      this.#kernels.set(name, kernel)
    }
    this.api.launch({ kernel, blocks, threads, sharedBytes, isTogether, stream, arguments: [this.fault, ...args] })
  }

  #moduleWith(kernel: string): Handle {
    const source = this.#sources.find((text) => text.includes(`.entry ${kernel}(`)) ?? this.#sources[0]!
    const module = this.#modules.get(source) ?? this.api.loadModule(source)
    this.#modules.set(source, module)
    return module
  }

  /** A fault that is known before anything is run. */
  fail(): void {
    this.launch('fill', [1, 1], [this.fault, 1n, 1])
  }

  /** One thread for so many elements. */
  overElements(name: string, count: number, args: readonly KernelArgument[]): void {
    this.launch(name, [gridOf(count), 1], args)
  }
}

const gridOf = (threads: number): number => Math.max(1, Math.min(MOST_BLOCKS, Math.ceil(threads / THREADS)))

type Grid = (args: readonly number[]) => number

const fours =
  (count: number): Grid =>
  (args) =>
    gridOf(args[count]! / 4)
const ones =
  (...sizes: readonly number[]): Grid =>
  (args) =>
    gridOf(sizes.reduce((product, at) => product * args[at]!, 1))
const rowsOf = (rows: number, width: number): number => (width > PIECE ? rows : Math.ceil(rows / WARPS))
const rows =
  (rowsAt: number, widthAt: number): Grid =>
  (args) => {
    if (args[widthAt]! > MOST_WIDTH) throw new RangeError(`a row of ${args[widthAt]} numbers`)
    return rowsOf(args[rowsAt]!, args[widthAt]!)
  }
const tiles =
  (side: number, down: number, across: number): Grid =>
  (args) =>
    Math.ceil(args[down]! / side) * Math.ceil(args[across]! / side)
const one: Grid = () => 1
const cellsOf =
  (blocks: number): Grid =>
  (args) =>
    Math.ceil((args[blocks]! * BLOCK_CELLS) / THREADS)

/** Ops that are one kernel: their arguments as they are, over so many blocks. */
const GRIDS = {
  ...{ add: fours(3), scale: fours(2), gelu: fours(2), geluBackward: fours(3), relu: fours(2), reluBackward: fours(3) },
  ...{ siluProduct: fours(3), siluProductBackwardGate: fours(4), siluProductBackwardUp: fours(3) },
  ...{ adamWFirst: fours(4), adamWSecond: fours(4), adamWWeight: fours(4), sgdVelocity: fours(4), sgdWeight: fours(3) },
  ...{ rowMean: rows(2, 3), normInverse: rows(3, 4), norm: rows(6, 7), normBackward: rows(6, 7) },
  ...{ normGainTerms: rows(5, 6), rowMaximum: rows(2, 3), exponentialSum: rows(3, 4), exponential: rows(3, 4) },
  ...{ exponentialBackward: rows(4, 5), rowDot: rows(3, 4), divideRows: ones(3, 4) },
  ...{ crossEntropy: ones(5), crossEntropyBackward: rows(5, 6), argmax: rows(2, 3) },
  ...{ rowSum: rows(2, 3), gradientNorm: one, clipFactor: one, embed: rows(5, 6) },
  columnSum: (args) => Math.ceil(args[5]! / 32),
  squareSums: (args) => Math.ceil(args[2]! / PIECE / WARPS),
  rowScale([, , , count, width, piece]) {
    return rowsOf(count! * Math.ceil(width! / piece!), Math.min(width!, piece!))
  },
  quantise: ([, , , , count, width]) => gridOf((count! * width!) / 8),
  quantiseStochastic: ([, , , , count, width]) => gridOf((count! * width!) / 8),
  dequantise: ([, , , , , count, width]) => gridOf((count! * width!) / 4),
  ...{ faultyFloats: ones(1), faultyBytes: ones(1), fill: ones(1), places: ones(1), normal: ones(1) },
  ...{ rotaryFrequencies: ones(3), windowOrder: ones(5), sampleNoise: ones(4, 5), nodes: ones(2) },
  rotary: ([, , , , count, , width]) => gridOf((count! * width!) / 2),
  leaves: ([, , count, bytes]) => gridOf(count! * Math.ceil(bytes! / LEAF_BYTES)),
  move: ([, , run, n0, n1, n2]) => gridOf((run! * n0! * n1! * n2!) / 16),
  // A thread for each cell; a warp for the figures of a block.
  ...{ flow: cellsOf(7), flowBegin: cellsOf(4) },
  flowFigures: ([, , , blocks]) => Math.ceil(blocks! / WARPS),
  ...{ transposeBytes: tiles(64, 2, 5), transposeFloats: tiles(32, 2, 5) },
} as const satisfies Partial<Record<keyof WorkKernels, Grid>>

/** W2.6.2. Arguments that something is divided by: 0 is a fault. */
const DIVISORS: Partial<Record<keyof WorkKernels, readonly number[]>> = {
  ...{ product: [7], productPieces: [7, 9], rowScale: [5, 7], quantise: [6, 8], quantiseStochastic: [6, 8] },
  // On a card a lattice is whole: gathered rows are a checker's.
  flow: [3, 4, 5],
  ...{ dequantise: [8], places: [2], embedBackward: [10], rowMaximum: [3], argmax: [3] },
}

/** Rows that lie further apart in a draw than here are a checker's: no kernel of a card takes the stride. */
const isPartOfDraw = (name: keyof WorkKernels, args: readonly number[]): boolean =>
  name === 'quantiseStochastic' && args[14] !== args[5]

type PlainOp = keyof typeof GRIDS
const isPlain = (name: string): name is PlainOp => Object.hasOwn(GRIDS, name)

/** Arguments as a kernel takes them: floats as their bits. */
const convert = (name: keyof WorkKernels, args: readonly number[]): KernelArgument[] =>
  Array.from(WORK_ARGUMENTS[name], (letter, at) => {
    const value = args[at]!
    return letter === 'u' ? value : letter === 'f' ? bitsOf(value) : BigInt(value)
  })

/** The ops of exact work on a card; pointers are the card's. They only queue, and answer 0: faults are found later. */
export function cardKernels(launcher: CardLauncher, products: CardProducts): WorkKernels {
  return kernelsFrom(WORK_OPS, (name) => (...args) => {
    if (DIVISORS[name]?.some((at) => args[at] === 0) || isPartOfDraw(name, args)) launcher.fail()
    else if (name === 'product') products.product(args)
    else if (name === 'productPieces') products.productPieces(args)
    else if (name === 'embedBackward') embedBackward(launcher, products, args)
    else if (name === 'picture') picture(launcher, args)
    else if (isPlain(name)) launcher.launch(name, [GRIDS[name](args), 1], convert(name, args))
    // A checker's: nothing here may pass for having done it.
    else launcher.fail()
    return 0
  })
}

/** W7. Rays are counted as whole numbers, in any order, and become floats at the end. */
function picture(launcher: CardLauncher, args: readonly number[]): void {
  const [counts, tilesHere] = [BigInt(args[6]!), args[13]!]
  launcher.overElements('fill', tilesHere, [counts, BigInt(tilesHere), 0])
  launcher.launch('picture', [Math.ceil((tilesHere * TILE_SIDE ** 2) / WARPS), 1], convert('picture', args))
  launcher.overElements('pictureRays', tilesHere, [counts, tilesHere])
}

/** Of matrices that lie one after the other, in one launch. */
export function transposeMany(
  launcher: CardLauncher,
  { at, to, elementBytes }: { readonly at: number; readonly to: number; readonly elementBytes: number },
  { batch, rows: down, width }: { readonly batch: number; readonly rows: number; readonly width: number },
): void {
  const name = elementBytes === 1 ? 'transposeBytes' : 'transposeFloats'
  const args = [at, to, down, width, 0, width]
  launcher.launch(name, [GRIDS[name](args), batch], convert(name, args))
}

/** W2.11.6, piece by piece of the tokens. */
function embedBackward(launcher: CardLauncher, products: CardProducts, args: readonly number[]): void {
  const [tokens, q, scales, , out, count, kinds, width, first, channels, piece] = args
  const sums = products.zeros(4 * kinds! * channels!)
  const pieces = Math.ceil(count! / piece!)
  for (let p = 0; p < pieces; p++) {
    const here = Math.min(piece!, count! - p * piece!)
    const places = [BigInt(tokens!), BigInt(q!), sums, count!, kinds!, channels!, p * piece!, here]
    launcher.overElements('embedSums', channels! * here, places)
    const sizes = [kinds!, width!, first!, channels!, pieces, p]
    launcher.overElements('embedTake', kinds! * channels!, [sums, BigInt(scales!), BigInt(out!), ...sizes])
  }
}
