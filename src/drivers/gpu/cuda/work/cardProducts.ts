import { MASK } from '../../../../core/work/workKernels.ts'
import type { CublasLt, Matmul } from '../cublasLt.ts'
import type { CudaApi, Handle } from '../loadLibcuda.ts'
import type { CardLauncher } from './cardKernels.ts'

const WORKSPACE_BYTES = 64 * 2 ** 20
/** The library wants rows of so many bytes, and results in rows of four. */
const ROW_BYTES = 16
const RESULT_COLUMNS = 4
/** From so many products on, operands of odd sizes are laid anew for the library. */
const WORTH_PADDING = 2 ** 26
const SIDE = 64
/** Pieces of so many are worth a call of the library each. */
const LIBRARY_PIECE = 1024
const THREADS = 128

interface Sizes {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly batch: number
  /** Bytes from a row to the next. */
  readonly rowStride: number
}

interface Chosen {
  readonly plan: Matmul
  readonly choice: number
}

/** Products of int8 through the library where it takes them, else by our own kernel; and the room they need. */
export class CardProducts {
  readonly #api: CudaApi
  readonly #launcher: CardLauncher
  readonly #library: CublasLt | null
  readonly #workspace: Handle
  readonly #plans = new Map<string, Chosen | null>()
  readonly #rooms = new Map<string, { readonly pointer: Handle; readonly bytes: number }>()

  constructor(launcher: CardLauncher, library: CublasLt | null) {
    this.#api = launcher.api
    this.#launcher = launcher
    this.#library = library
    this.#workspace = library ? this.#api.allocate(WORKSPACE_BYTES) : 0n
  }

  /** Arguments as WorkKernels has them. */
  product([a, b, out, rows, columns, k, batches, shared, mask, first]: readonly number[]): void {
    const [x, y, c] = [BigInt(a!), BigInt(b!), BigInt(out!)]
    const sizes = { m: rows!, n: columns!, k: k!, batch: batches!, rowStride: k! }
    if (mask === MASK.none && (shared === 1 || batches === 1) && this.#byLibrary(x, y, c, sizes)) return
    this.#own(x, y, c, sizes, [shared!, mask!, first!])
  }

  productPieces([a, scales, b, out, rows, columns, k, piece, batches, shared]: readonly number[]): void {
    if (
      batches === 1 &&
      piece! >= LIBRARY_PIECE &&
      this.#piecesByLibrary([a!, scales!, b!, out!, rows!, columns!, k!, piece!])
    )
      return
    const blocks = batches! * Math.ceil(rows! / SIDE) * Math.ceil(columns! / SIDE)
    const args = [...[a!, scales!, b!, out!].map(BigInt), rows!, columns!, k!, piece!, batches!, shared!]
    this.#launcher.launch('productPieces', [blocks, 1], args, { threads: THREADS })
  }

  #piecesByLibrary([a, scales, b, out, rows, columns, k, piece]: readonly number[]): boolean {
    const pieces = Math.ceil(k! / piece!)
    const bytes = 4 * rows! * columns!
    const sums = this.room('sums', pieces * bytes)
    for (let p = 0; p < pieces; p++) {
      const from = BigInt(p * piece!)
      const here = Math.min(piece!, k! - p * piece!)
      const sizes = { m: rows!, n: columns!, k: here, batch: 1, rowStride: k! }
      if (!this.#byLibrary(BigInt(a!) + from, BigInt(b!) + from, sums + BigInt(p * bytes), sizes)) return false
    }
    const args = [sums, BigInt(scales!), BigInt(out!), rows!, columns!, pieces]
    this.#launcher.overElements('addPieces', (rows! * columns!) / RESULT_COLUMNS, args)
    return true
  }

  /** Memory that is there until somebody asks for more under the same name. */
  room(name: string, bytes: number): Handle {
    const held = this.#rooms.get(name)
    if (held && held.bytes >= bytes) return held.pointer
    if (held) {
      this.#api.synchronize(this.#launcher.stream)
      this.#api.free(held.pointer)
    }
    const pointer = this.#api.allocate(bytes)
    this.#rooms.set(name, { pointer, bytes })
    return pointer
  }

  /** Zeros; whoever changes them leaves behind what the next one under the name counts on. */
  zeros(bytes: number, name = 'zeros'): Handle {
    const had = this.#rooms.get(name)?.bytes ?? 0
    const pointer = this.room(name, bytes)
    if (bytes > had) this.#api.zero(pointer, bytes)
    return pointer
  }

  close(): void {
    for (const chosen of this.#plans.values()) chosen?.plan.close()
    for (const { pointer } of this.#rooms.values()) this.#api.free(pointer)
    if (this.#library) this.#api.free(this.#workspace)
  }

  #own(a: Handle, b: Handle, c: Handle, { m, n, k, batch }: Sizes, rest: readonly [number, number, number]): void {
    const blocks = batch * Math.ceil(m / SIDE) * Math.ceil(n / SIDE)
    this.#launcher.launch('product', [blocks, 1], [a, b, c, m, n, k, batch, ...rest], { threads: THREADS })
  }

  /** False where the library does not make this product. */
  #byLibrary(a: Handle, b: Handle, c: Handle, sizes: Sizes): boolean {
    const { m, n, k, batch, rowStride } = sizes
    if (!this.#library || n % RESULT_COLUMNS > 0 || k === 0) return false
    const isAligned = [k, rowStride, Number(a % 16n), Number(b % 16n)].every((bytes) => bytes % ROW_BYTES === 0)
    if (!isAligned) {
      if (batch > 1 || m * n * k < WORTH_PADDING) return false
      const padded = Math.ceil(k / ROW_BYTES) * ROW_BYTES
      const { x, y } = this.#packed(a, b, sizes, padded)
      return this.#byLibrary(x, y, c, { ...sizes, k: padded, rowStride: padded })
    }
    const key = [m, n, k, batch, rowStride].join()
    if (!this.#plans.has(key)) this.#plans.set(key, this.#choose(a, b, c, sizes))
    const chosen = this.#plans.get(key)
    chosen?.plan.launch(chosen.choice, this.#launcher.stream, { a, b, c })
    return chosen !== null && chosen !== undefined
  }

  /** Both operands in rows of `to` bytes, what was not there 0. */
  #packed(a: Handle, b: Handle, { m, n, k, rowStride }: Sizes, to: number): { x: Handle; y: Handle } {
    const lay = (name: string, from: Handle, rows: number) => {
      const out = this.room(name, rows * to)
      this.#launcher.overElements('padRows', rows * to, [from, out, rows, k, rowStride, to])
      return out
    }
    return { x: lay('a', a, m), y: lay('b', b, n) }
  }

  /** The quickest way of those the library offers, each timed once; null where it offers none. */
  #choose(a: Handle, b: Handle, c: Handle, sizes: Sizes): Chosen | null {
    const workspace = { workspace: this.#workspace, workspaceBytes: WORKSPACE_BYTES }
    let plan: Matmul
    try {
      plan = this.#library!.matmul({ precision: 'int8', ...sizes, a, b, c, ...workspace })
    } catch {
      return null // the heuristics found nothing for these sizes
    }
    let best = { choice: -1, milliseconds: Number.POSITIVE_INFINITY }
    for (let choice = 0; choice < plan.choices; choice++) {
      const milliseconds = this.#time(plan, choice)
      if (milliseconds < best.milliseconds) best = { choice, milliseconds }
    }
    if (best.choice >= 0) return { plan, choice: best.choice }
    plan.close()
    return null
  }

  #time(plan: Matmul, choice: number): number {
    const { stream } = this.#launcher
    const [from, to] = [this.#api.createEvent(), this.#api.createEvent()]
    try {
      plan.launch(choice, stream)
      this.#api.recordEvent(from, stream)
      plan.launch(choice, stream)
      this.#api.recordEvent(to, stream)
      return this.#api.elapsedMs(from, to)
    } catch {
      return Number.POSITIVE_INFINITY // offered, and then refused
    } finally {
      for (const event of [from, to]) this.#api.destroyEvent(event)
    }
  }
}
