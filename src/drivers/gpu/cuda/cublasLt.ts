import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import koffi from 'koffi'
import type { Precision } from '../../../core/params/precision.ts'
import type { Handle } from './cudaApi.ts'
import { fault } from './faults.ts'
import { type FileTree, findCublasLt } from './findCublasLt.ts'

export interface MatmulOperands {
  readonly precision: Precision
  readonly m: number
  readonly n: number
  readonly k: number
  /** So many products whose operands lie one after the other; one unless said otherwise. */
  readonly batch?: number
  readonly a: Handle
  readonly b: Handle
  readonly c: Handle
  readonly workspace: Handle
  readonly workspaceBytes: number
  /** fp32 on tensor cores, which round the operands: what a cheat would use (attack 7). Never for proofs. */
  readonly tf32?: boolean
}

/** One way the library offers to compute a product. */
export interface Matmul {
  readonly choices: number
  launch(choice: number, stream: Handle): void
  close(): void
}

export interface CublasLt {
  readonly path: string
  readonly version: number
  matmul(operands: MatmulOperands): Matmul
  close(): void
}

/** Numbers of library_types.h and cublasLt.h. */
const TYPE = { f32: 0, f16: 2, s8: 3, s32: 10, bf16: 14, e4m3: 28 } as const
const COMPUTE = { f32: 68, s32: 72, tf32: 77 } as const
const FORMATS = {
  int8: { input: TYPE.s8, output: TYPE.s32, compute: COMPUTE.s32, scale: TYPE.s32 },
  fp8: { input: TYPE.e4m3, output: TYPE.f32, compute: COMPUTE.f32, scale: TYPE.f32 },
  bf16: { input: TYPE.bf16, output: TYPE.f32, compute: COMPUTE.f32, scale: TYPE.f32 },
  fp16: { input: TYPE.f16, output: TYPE.f32, compute: COMPUTE.f32, scale: TYPE.f32 },
  fp32: { input: TYPE.f32, output: TYPE.f32, compute: COMPUTE.f32, scale: TYPE.f32 },
} as const
const ATTRIBUTE = {
  transA: 3,
  transB: 4,
  fastAccumulation: 25,
  maxWorkspace: 1,
  batchCount: 5,
  batchStride: 6,
} as const
const TRANSPOSED = 1
const PLAIN = 0
/** cublasLtMatmulHeuristicResult_t: 64 bytes of algorithm, workspace, status, waves, 16 reserved. */
const RESULT_BYTES = 96
const MOST_CHOICES = 8

const SIGNATURES = {
  cublasLtCreate: 'p',
  cublasLtDestroy: 'h',
  cublasLtMatmulDescCreate: 'pii',
  cublasLtMatmulDescDestroy: 'h',
  cublasLtMatmulDescSetAttribute: 'hipz',
  cublasLtMatrixLayoutCreate: 'pizzz',
  cublasLtMatrixLayoutDestroy: 'h',
  cublasLtMatrixLayoutSetAttribute: 'hipz',
  cublasLtMatmulPreferenceCreate: 'p',
  cublasLtMatmulPreferenceDestroy: 'h',
  cublasLtMatmulPreferenceSetAttribute: 'hipz',
  cublasLtMatmulAlgoGetHeuristic: 'hhhhhhhipp',
  cublasLtMatmul: 'hhphhhhphhhhphzh',
} as const
const TYPES: Readonly<Record<string, string>> = { p: 'void *', h: 'uint64_t', i: 'int', z: 'size_t' }

type Argument = number | bigint | ArrayBufferView | null
type Call = (...args: Argument[]) => number
type Calls = { readonly [name in keyof typeof SIGNATURES]: Call }

const realTree: FileTree = {
  environment: process.env,
  home: homedir(),
  list(folder) {
    try {
      return readdirSync(folder)
    } catch {
      return []
    }
  },
}

/**
 * The library on this box, or null when it has none we can use. It must match the card's current context, which is set
 * before this is called. `TOUCHSTONE_CUBLASLT=none` leaves it out; a path there is the only place looked at.
 */
export function openCublasLt(tree: FileTree = realTree): CublasLt | null {
  const chosen = tree.environment.TOUCHSTONE_CUBLASLT
  if (chosen === 'none') return null
  for (const path of chosen ? [chosen] : findCublasLt(tree)) {
    try {
      return new LoadedCublasLt(path)
    } catch (error) {
      if (chosen) throw fault('WRONG_CUBLASLT', { path }, error)
    }
  }
  return null
}

function check(call: string, status: number): void {
  if (status === 0) return
  throw fault('CUBLASLT_FAILED', { call, status })
}

class LoadedCublasLt implements CublasLt {
  readonly path: string
  readonly version: number
  readonly #calls: Calls
  readonly #handle: Handle

  constructor(path: string) {
    const library = koffi.load(path)
    const bound = Object.entries(SIGNATURES).map(([name, letters]) => [
      name,
      library.func(
        name,
        'int',
        [...letters].map((letter) => TYPES[letter]!),
      ),
    ])
    this.#calls = Object.fromEntries(bound) as Calls
    this.path = path
    this.version = Number(library.func('cublasLtGetVersion', 'size_t', [])())
    const out = new BigUint64Array(1)
    check('cublasLtCreate', this.#calls.cublasLtCreate(out))
    this.#handle = out[0]!
  }

  matmul(operands: MatmulOperands): Matmul {
    return new PlannedMatmul(this.#calls, this.#handle, operands)
  }

  close(): void {
    this.#calls.cublasLtDestroy(this.#handle)
  }
}

class PlannedMatmul implements Matmul {
  readonly choices: number
  readonly #calls: Calls
  readonly #library: Handle
  readonly #operands: MatmulOperands
  readonly #description: Handle
  /** Layouts of our B, our A and C, as the library sees them. */
  readonly #layouts: readonly [Handle, Handle, Handle]
  readonly #results = new Uint8Array(RESULT_BYTES * MOST_CHOICES)
  readonly #alpha: Uint8Array
  readonly #beta = new Uint8Array(4)

  constructor(calls: Calls, library: Handle, operands: MatmulOperands) {
    this.#calls = calls
    this.#library = library
    this.#operands = operands
    const { m, n, k, precision } = operands
    const format = FORMATS[precision]
    this.#alpha = new Uint8Array(format.scale === TYPE.s32 ? Int32Array.of(1).buffer : Float32Array.of(1).buffer)
    this.#description = this.#create(
      'cublasLtMatmulDescCreate',
      operands.tf32 ? COMPUTE.tf32 : format.compute,
      format.scale,
    )
    // Row-major C = A B^T is, column by column, C^T = B A^T: both operands k-contiguous, the first transposed.
    this.#set(ATTRIBUTE.transA, TRANSPOSED)
    this.#set(ATTRIBUTE.transB, PLAIN)
    // §2: with fast accumulation fp8 sums are not exact.
    if (precision === 'fp8') this.#set(ATTRIBUTE.fastAccumulation, 0, 1)
    this.#layouts = [
      this.#create('cublasLtMatrixLayoutCreate', format.input, k, n, k),
      this.#create('cublasLtMatrixLayoutCreate', format.input, k, m, k),
      this.#create('cublasLtMatrixLayoutCreate', format.output, n, m, n),
    ]
    if (operands.batch !== undefined && operands.batch > 1) this.#batch(operands.batch, [n * k, m * k, n * m])
    this.choices = this.#heuristics()
  }

  launch(choice: number, stream: Handle): void {
    const { a, b, c, workspace, workspaceBytes } = this.#operands
    const [layoutB, layoutA, layoutC] = this.#layouts
    const algorithm = this.#results.subarray(choice * RESULT_BYTES, choice * RESULT_BYTES + 64)
    const status = this.#calls.cublasLtMatmul(
      this.#library,
      this.#description,
      this.#alpha,
      b,
      layoutB,
      a,
      layoutA,
      this.#beta,
      c,
      layoutC,
      c,
      layoutC,
      algorithm,
      workspace,
      workspaceBytes,
      stream,
    )
    check('cublasLtMatmul', status)
  }

  close(): void {
    for (const layout of this.#layouts) this.#calls.cublasLtMatrixLayoutDestroy(layout)
    this.#calls.cublasLtMatmulDescDestroy(this.#description)
  }

  #batch(count: number, strides: readonly number[]): void {
    const call = 'cublasLtMatrixLayoutSetAttribute'
    for (const [index, layout] of this.#layouts.entries()) {
      check(call, this.#calls[call](layout, ATTRIBUTE.batchCount, Int32Array.of(count), 4))
      check(call, this.#calls[call](layout, ATTRIBUTE.batchStride, BigInt64Array.of(BigInt(strides[index]!)), 8))
    }
  }

  #heuristics(): number {
    const preference = this.#create('cublasLtMatmulPreferenceCreate')
    const most = BigUint64Array.of(BigInt(this.#operands.workspaceBytes))
    const set = this.#calls.cublasLtMatmulPreferenceSetAttribute(preference, ATTRIBUTE.maxWorkspace, most, 8)
    check('cublasLtMatmulPreferenceSetAttribute', set)
    const found = new Int32Array(1)
    const [b, a, c] = this.#layouts
    const status = this.#calls.cublasLtMatmulAlgoGetHeuristic(
      this.#library,
      this.#description,
      b,
      a,
      c,
      c,
      preference,
      MOST_CHOICES,
      this.#results,
      found,
    )
    this.#calls.cublasLtMatmulPreferenceDestroy(preference)
    check('cublasLtMatmulAlgoGetHeuristic', status)
    return found[0]!
  }

  #create(call: keyof Calls, ...args: number[]): Handle {
    const out = new BigUint64Array(1)
    check(call, this.#calls[call](out, ...args))
    return out[0]!
  }

  #set(attribute: number, value: number, bytes: 1 | 4 = 4): void {
    const call = 'cublasLtMatmulDescSetAttribute'
    const buffer = bytes === 4 ? Int32Array.of(value) : Uint8Array.of(value)
    check(call, this.#calls[call](this.#description, attribute, buffer, bytes))
  }
}
