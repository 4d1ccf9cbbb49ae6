import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import koffi from 'koffi'
import type { Precision } from '../../../core/params/precision.ts'
import { fault } from './faults.ts'
import { type FileTree, findCublasLt } from './findCublasLt.ts'
import type { Handle } from './loadLibcuda.ts'
import { type After, bindCalls, type Calls, invoke } from './nativeCalls.ts'

export interface MatmulOperands {
  readonly precision: Precision
  readonly m: number
  readonly n: number
  readonly k: number
  /** So many products whose operands lie one after the other; one unless said otherwise. */
  readonly batch?: number
  /** Entries from one row of an operand to the next, where these are pieces of longer rows; k unless said otherwise. */
  readonly rowStride?: number
  readonly a: Handle
  readonly b: Handle
  readonly c: Handle
  readonly workspace: Handle
  readonly workspaceBytes: number
  /** fp32 on tensor cores, which round the operands: what a cheat would use (attack 7). Never for proofs. */
  readonly tf32?: boolean
}

/** One product as the library would make it, in `choices` ways. */
export type Matmul = ReturnType<typeof planMatmul>

/** A library that is loaded, for the card whose context was current then. */
export type CublasLt = ReturnType<typeof loadCublasLt>

/** Numbers of library_types.h and cublasLt.h. */
const TYPE = { f32: 0, f16: 2, s8: 3, s32: 10, bf16: 14, e4m3: 28 } as const
const COMPUTE = { f32: 68, s32: 72, tf32: 77 } as const
const FLOAT = { output: TYPE.f32, compute: COMPUTE.f32, scale: TYPE.f32 } as const
const FORMATS = {
  int8: { input: TYPE.s8, output: TYPE.s32, compute: COMPUTE.s32, scale: TYPE.s32 },
  fp8: { input: TYPE.e4m3, ...FLOAT },
  bf16: { input: TYPE.bf16, ...FLOAT },
  fp16: { input: TYPE.f16, ...FLOAT },
  fp32: { input: TYPE.f32, ...FLOAT },
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
      return loadCublasLt(path)
    } catch (error) {
      if (chosen) throw fault('WRONG_CUBLASLT', { path }, error)
    }
  }
  return null
}

function loadCublasLt(path: string) {
  const library = koffi.load(path)
  const calls = bindCalls(library, SIGNATURES)
  const version = Number(library.func('cublasLtGetVersion', 'size_t', [])())
  const handle = made(calls, 'cublasLtCreate')
  return {
    version,
    matmul: (operands: MatmulOperands) => planMatmul(calls, handle, operands),
    close: () => void calls.cublasLtDestroy(handle),
  }
}

type Library = Calls<typeof SIGNATURES>
type Call = keyof Library

const check = (call: Call, status: number): void => {
  if (status !== 0) throw fault('CUBLASLT_FAILED', { call, status })
}

const run = <Name extends Call>(library: Library, name: Name, ...args: Parameters<Library[Name]>): void =>
  check(name, invoke(library, name, ...args))

function made<Name extends Call>(library: Library, name: Name, ...args: After<Parameters<Library[Name]>>): Handle {
  const out = new BigUint64Array(1)
  check(name, invoke(library, name, out, ...args))
  return out[0]!
}

/** Layouts of our B, our A and C, as the library sees them. */
type Layouts = readonly [Handle, Handle, Handle]

function planMatmul(library: Library, handle: Handle, operands: MatmulOperands) {
  const { precision, m, n, k, batch = 1, rowStride = k, workspace, workspaceBytes, tf32 } = operands
  const { input, output, compute, scale } = FORMATS[precision]
  const description = made(library, 'cublasLtMatmulDescCreate', tf32 ? COMPUTE.tf32 : compute, scale)
  const describe = (attribute: number, value: Int32Array | Uint8Array) =>
    run(library, 'cublasLtMatmulDescSetAttribute', description, attribute, value, value.byteLength)
  // Row-major C = A B^T is, column by column, C^T = B A^T: both operands k-contiguous, the first transposed.
  describe(ATTRIBUTE.transA, Int32Array.of(TRANSPOSED))
  describe(ATTRIBUTE.transB, Int32Array.of(PLAIN))
  // §2: with fast accumulation fp8 sums are not exact.
  if (precision === 'fp8') describe(ATTRIBUTE.fastAccumulation, Uint8Array.of(0))
  const layouts: Layouts = [
    made(library, 'cublasLtMatrixLayoutCreate', input, k, n, rowStride),
    made(library, 'cublasLtMatrixLayoutCreate', input, k, m, rowStride),
    made(library, 'cublasLtMatrixLayoutCreate', output, n, m, n),
  ]
  if (batch > 1) setBatch(library, layouts, batch, [n * rowStride, m * rowStride, n * m])
  const { results, choices } = heuristics(library, handle, description, layouts, workspaceBytes)
  const [layoutB, layoutA, layoutC] = layouts
  const alpha = scale === TYPE.s32 ? Int32Array.of(1) : Float32Array.of(1)
  const beta = new Uint8Array(4)
  return {
    choices,
    /** On the operands it was planned for, or on others that lie alike. */
    launch(choice: number, stream: Handle, { a, b, c }: Pick<MatmulOperands, 'a' | 'b' | 'c'> = operands): void {
      const inputs = [b, layoutB, a, layoutA] as const
      const outputs = [c, layoutC, c, layoutC] as const
      const algorithm = results.subarray(choice * RESULT_BYTES, choice * RESULT_BYTES + 64)
      const work = [algorithm, workspace, workspaceBytes, stream] as const
      run(library, 'cublasLtMatmul', handle, description, alpha, ...inputs, beta, ...outputs, ...work)
    },
    close(): void {
      for (const layout of layouts) library.cublasLtMatrixLayoutDestroy(layout)
      library.cublasLtMatmulDescDestroy(description)
    },
  }
}

function setBatch(library: Library, layouts: Layouts, count: number, strides: readonly number[]): void {
  for (const [index, layout] of layouts.entries()) {
    const stride = BigInt64Array.of(BigInt(strides[index]!))
    run(library, 'cublasLtMatrixLayoutSetAttribute', layout, ATTRIBUTE.batchCount, Int32Array.of(count), 4)
    run(library, 'cublasLtMatrixLayoutSetAttribute', layout, ATTRIBUTE.batchStride, stride, 8)
  }
}

/** The ways the library offers, best first as it thinks. */
function heuristics(library: Library, handle: Handle, description: Handle, [b, a, c]: Layouts, workspaceBytes: number) {
  const preference = made(library, 'cublasLtMatmulPreferenceCreate')
  const most = BigUint64Array.of(BigInt(workspaceBytes))
  run(library, 'cublasLtMatmulPreferenceSetAttribute', preference, ATTRIBUTE.maxWorkspace, most, 8)
  const results = new Uint8Array(RESULT_BYTES * MOST_CHOICES)
  const found = new Int32Array(1)
  const search = [preference, MOST_CHOICES, results, found] as const
  try {
    run(library, 'cublasLtMatmulAlgoGetHeuristic', handle, description, b, a, c, c, ...search)
  } finally {
    library.cublasLtMatmulPreferenceDestroy(preference)
  }
  return { results, choices: found[0]! }
}
