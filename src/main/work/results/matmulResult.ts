import { isCommittedState, stateShapes } from '../../../core/work/committedState.ts'
import { matmul } from '../../../core/work/kinds/matmul/matmul.ts'
import { tensorBytes } from '../../../core/work/tensor.ts'
import { decodeNpy } from '../../../drivers/workFiles/npy.ts'
import { readInput } from '../readInput.ts'
import type { ResultRule } from './resultRule.ts'

/** C is the states themselves, block after block. */
export const matmulResult: ResultRule = {
  problem({ path, work, receipt, hasher }) {
    const { rows, columns } = matmul.parameters.parse(work.spec.parameters) as { rows: number; columns: number }
    const c = decodeNpy(readInput(path))
    if (c.type !== 'i32' || c.rows !== rows || c.width !== columns)
      return `it is ${c.rows} by ${c.width} of ${c.type} where ${rows} by ${columns} of i32 belongs`
    let at = 0
    for (const [segment, { root }] of receipt.marks.entries()) {
      const [shape] = stateShapes(work, segment).values()
      const block = c.bytes.subarray(at, at + tensorBytes(shape!))
      at += block.length
      if (!isCommittedState(work, segment, root, new Map([['c', block]]), hasher))
        return `rows from ${segment === 0 ? 0 : (at - block.length) / (4 * columns)} on are others`
    }
    return null
  },
}
