import type { AnswerAtHand } from '../../core/certificate/answerEvidence.ts'
import type { PrivateProduct } from '../../core/work/methods/zk/statement.ts'
import type { NpyMatrix } from '../../drivers/workFiles/npy.ts'
import { fault } from '../faults.ts'
import { readMatrix, readOperand } from './matmulWork.ts'
import type { ProductFiles } from './productFiles.ts'
import { readInput } from './readInput.ts'

/** W10.8.5. What a model was asked, a row for each input, and what it is said to have answered, a row for each too. */
export const answerFrom = ({ given = [], result }: ProductFiles): AnswerAtHand => ({
  hasInputs: given.length > 0,
  problemWith(product) {
    if (given.length > 1) throw fault('BAD_WORK_INPUT', { why: 'a private answer takes one --given: its inputs' })
    const [inputs] = given.map((name) => readOperand(readInput(name), 'the input'))
    if (inputs && !areInputs(inputs, product)) return { code: 'OTHER_TENSOR', where: 'inputs' }
    const scores = result === undefined ? null : readMatrix(readInput(result), 'the result')
    return scores && !areScores(scores, product) ? { code: 'OTHER_RESULT', where: 'scores' } : null
  },
})

/** So many columns are proven, those behind an input's own being zeros. */
export const paddedWidth = (width: number): number => 2 ** Math.ceil(Math.log2(width))

/** Rows of int8, filled up with zeros. */
export const padded = ({ rows, width, bytes }: NpyMatrix): readonly number[] => {
  const to = paddedWidth(width)
  return Array.from({ length: rows * to }, (_, at) => {
    const column = at % to
    return column < width ? (bytes[Math.floor(at / to) * width + column]! << 24) >> 24 : 0
  })
}

function areInputs(inputs: NpyMatrix, { columns, inner, b }: PrivateProduct): boolean {
  const isShaped = inputs.rows === columns && paddedWidth(inputs.width) === inner
  return isShaped && 'open' in b && areSame(padded(inputs), b.open)
}

function areScores({ type, rows, width, bytes }: NpyMatrix, product: PrivateProduct): boolean {
  if (type !== 'i32' || rows !== product.columns || width !== product.rows || !('open' in product.c)) return false
  return areSame([...new Int32Array(Uint8Array.from(bytes).buffer)], byInput(product, product.c.open))
}

/** Scores that are proven with a row for each class, with a row for each input. */
export const byInput = (
  { rows, columns }: Pick<PrivateProduct, 'rows' | 'columns'>,
  scores: readonly number[],
): readonly number[] => scores.map((_, at) => scores[(at % rows) * columns + Math.floor(at / rows)]!)

const areSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((entry, i) => entry === other[i])
