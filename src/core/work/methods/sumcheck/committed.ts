import { concatBytes, equalBytes } from '../../../bytes/bytes.ts'
import { Cursor } from '../../cursor.ts'
import type { TensorHasher } from '../../engineRun.ts'
import { tensorBytes } from '../../tensor.ts'
import { COLUMNS, codeLength, LENGTHENED, layoutOf } from './code.ts'
import { evaluate, type FieldEngine } from './evaluate.ts'
import { isSame, P } from './field.ts'
import { type CodedOperand, type CodeProblem, checkOperand, openOperand } from './operandCode.ts'
import {
  proveRounds,
  reduceProduct,
  type SumcheckProblem,
  shapesOf,
  sumcheckError,
  sumcheckProofBytes,
} from './sumcheck.ts'
import { type ProductStatement, Transcript } from './transcript.ts'

/** A product of operands that whoever checks does not have: each under its root and under that of its code. */
export interface CommittedStatement extends ProductStatement {
  readonly codeA: Uint8Array
  readonly codeB: Uint8Array
}

export type CommittedProblem = SumcheckProblem | CodeProblem

const transcriptOf = (statement: CommittedStatement): Transcript =>
  new Transcript(statement, [statement.codeA, statement.codeB])

/** W8.9. The proof of W8.4, and the last values opened in both codes. */
export function proveCommitted(
  engine: FieldEngine,
  hasher: TensorHasher,
  statement: CommittedStatement,
  a: CodedOperand,
  b: CodedOperand,
): Uint8Array {
  const transcript = transcriptOf(statement)
  const rounds = proveRounds(engine, statement, { a: a.bytes, b: b.bytes }, transcript)
  // What they lead to is found as whoever checks finds it.
  const reduced = reduceProduct(statement, rounds, transcriptOf(statement))
  if (typeof reduced === 'string') throw new RangeError(`a proof of ours is wrong: ${reduced}`)
  const { row, column, inner, lastA, lastB } = reduced
  transcript.absorb([lastA, lastB])
  const opened = [
    openOperand(engine, hasher, a, { row, column: inner }, transcript),
    openOperand(engine, hasher, b, { row: column, column: inner }, transcript),
  ]
  return concatBytes(rounds, ...opened)
}

/** W8.9.7. For whoever has C, and neither A nor B. */
export function checkCommitted(
  engine: FieldEngine,
  hasher: Pick<TensorHasher, 'root'>,
  statement: CommittedStatement,
  c: readonly Uint8Array[],
  proof: Uint8Array,
): CommittedProblem | null {
  const shapes = shapesOf(statement)
  const isC =
    c.length === shapes.c.length &&
    statement.rootsC.length === shapes.c.length &&
    shapes.c.every(
      (shape, i) => c[i]!.length === tensorBytes(shape) && equalBytes(hasher.root(shape, c[i]!), statement.rootsC[i]!),
    )
  if (!isC) return 'WRONG_TENSOR'
  const cursor = new Cursor(proof)
  const rounds = cursor.take(sumcheckProofBytes(statement.k))
  if (!rounds) return 'BAD_PROOF'
  const transcript = transcriptOf(statement)
  const reduced = reduceProduct(statement, rounds, transcript)
  if (typeof reduced === 'string') return reduced
  const { row, column, inner, claim, lastA, lastB } = reduced
  const { rows, columns: width, rootA, rootB, codeA, codeB } = statement
  if (!isSame(evaluate(engine, { shape: { type: 'i32', rows, width }, stretches: c }, row, column), claim))
    return 'WRONG_RESULT'
  transcript.absorb([lastA, lastB])
  const a = { shape: shapes.a, root: rootA, code: codeA }
  const b = { shape: shapes.b, root: rootB, code: codeB }
  const problem =
    checkOperand(engine, a, { row, column: inner }, lastA, transcript, cursor) ??
    checkOperand(engine, b, { row: column, column: inner }, lastB, transcript, cursor)
  return problem ?? (cursor.left === 0 ? null : 'BAD_PROOF')
}

/** W8.9.8. log2 of the chance that a wrong C passes, for one try: that of the rounds, of chance and of the columns. */
export function committedError(statement: Pick<ProductStatement, 'rows' | 'columns' | 'k'>): number {
  const { rows, columns, k } = statement
  const missed = 2 * ((1 + 1 / LENGTHENED) / 2) ** COLUMNS
  const most = (1n << 128n) / P + 1n
  const number = (Number(most) / 2 ** 128) ** 2
  const ofCode = [layoutOf(rows, k), layoutOf(columns, k)].map(
    (layout) => missed + (codeLength(layout) + COLUMNS) * number,
  )
  return Math.log2(2 ** sumcheckError(statement) + ofCode[0]! + ofCode[1]!)
}
