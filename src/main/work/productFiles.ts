import type { AtHand } from '../../core/certificate/productEvidence.ts'
import type { Codes } from '../../core/work/methods/sumcheck/productReceipt.ts'
import type { ProductStatement } from '../../core/work/methods/sumcheck/transcript.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { openExactEngine, openFieldEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import type { NpyMatrix } from '../../drivers/workFiles/npy.ts'
import { fault } from '../faults.ts'
import { readMatrix, readOperand, turned } from './matmulWork.ts'
import { readInput } from './readInput.ts'

export interface ProductFiles {
  /** The codes of A and B. */
  readonly code?: readonly Uint8Array[]
  readonly given?: readonly string[]
  readonly result?: string
}

/** C, and A and B or neither, from files of NumPy; null where none was named. */
export function productFrom({
  given = [],
  result,
}: ProductFiles): ((product: ProductStatement) => Promise<AtHand>) | null {
  if (given.length === 0 && result === undefined) return null
  return async (product) => {
    if ((given.length !== 2 && given.length !== 0) || result === undefined)
      throw fault('BAD_WORK_INPUT', { why: 'a proven product takes --given A, --given B and --result C' })
    const [a, b] = given.map((name, i) => readOperand(readInput(name), 'AB'[i]!))
    const c = readMatrix(readInput(result), 'C')
    if (c.type !== 'i32') throw fault('BAD_WORK_INPUT', { why: 'C is not of int32' })
    const { rows, columns, k, block } = product
    const stride = 4 * block * columns
    const whole = sized(c, rows, columns).bytes
    const blocks = Array.from({ length: Math.ceil(whole.length / stride) }, (_, i) =>
      whole.subarray(i * stride, (i + 1) * stride),
    )
    const operands = a && b ? { a: sized(a, rows, k).bytes, b: turned(sized(b, k, columns)) } : null
    return { engine: await openFieldEngine(), hasher: hasherOn(await openExactEngine()), c: blocks, operands }
  }
}

/** A matrix of these sizes, or an empty one: the same bytes in others are another matrix (attack 209). */
export const sized = (matrix: NpyMatrix, rows: number, width: number): NpyMatrix =>
  matrix.rows === rows && matrix.width === width ? matrix : { ...matrix, rows: 0, width: 0, bytes: new Uint8Array(0) }

/** What the owner of A and B published. */
export function publishedCodes({ code = [] }: ProductFiles): Codes | null {
  if (code.length === 0) return null
  const [a, b, ...more] = code
  if (!a || !b || more.length > 0) throw fault('BAD_WORK_INPUT', { why: '--code is given twice: that of A, then of B' })
  return [a, b]
}
