import { equalBytes } from '../../../bytes/bytes.ts'
import type { TensorHasher } from '../../engineRun.ts'
import { PAIR_BYTES } from '../../fieldKernels.ts'
import { requireThat } from '../../refusals.ts'
import { type TensorShape, tensorBytes } from '../../tensor.ts'
import { coordinatesOf, evaluate, type FieldEngine, type Matrix, overRows, Rooms } from './evaluate.ts'
import { decodePairs, encodePairs, isSame, minus, P, type Pair, plus, times } from './field.ts'
import { type ProductStatement, Transcript } from './transcript.ts'

/** What a checker has at hand: A, B by its columns, and C in the blocks of rows that its roots are of. */
export interface ProductOperands {
  readonly a: Uint8Array
  readonly b: Uint8Array
}

export interface ProductTensors extends ProductOperands {
  readonly c: readonly Uint8Array[]
}

/** Why a proof is not believed. */
export type SumcheckProblem =
  /** Of another size, or a number in it is not in its one spelling. */
  | 'BAD_PROOF'
  /** A tensor has another size or root than the statement says. */
  | 'WRONG_TENSOR'
  /** The rounds do not lead to the product of the two last values. */
  | 'WRONG_ROUNDS'
  /** The value that was claimed is not C's. */
  | 'WRONG_RESULT'
  /** A last value is not that of its operand. */
  | 'WRONG_OPERAND'

export const shapesOf = ({ rows, columns, k, block }: ProductStatement) => ({
  a: { type: 'i8', rows, width: k } as const,
  b: { type: 'i8', rows: columns, width: k } as const,
  c: Array.from(
    { length: Math.ceil(rows / block) },
    (_, i): TensorShape => ({ type: 'i32', rows: Math.min(block, rows - i * block), width: columns }),
  ),
})

/** Claim, two coefficients a round, two last values. */
export const proofPairs = (k: number): number => 3 + 2 * coordinatesOf(k)
export const sumcheckProofBytes = (k: number): number => PAIR_BYTES * proofPairs(k)

/** W8.6. log2 of the chance that a wrong C passes, for one try. */
export function sumcheckError({ rows, columns, k }: Pick<ProductStatement, 'rows' | 'columns' | 'k'>): number {
  const degrees = coordinatesOf(rows) + coordinatesOf(columns) + 2 * coordinatesOf(k)
  const most = (1n << 128n) / P + 1n
  return Math.log2(degrees || 1) + 2 * (Math.log2(Number(most)) - 128)
}

interface Points {
  readonly row: readonly Pair[]
  readonly column: readonly Pair[]
}

const drawPoints = (transcript: Transcript, { rows, columns }: ProductStatement): Points => {
  const drawn = transcript.draw(coordinatesOf(rows) + coordinatesOf(columns))
  return { row: drawn.slice(0, coordinatesOf(rows)), column: drawn.slice(coordinatesOf(rows)) }
}

/** The matrix met with the weights of its rows: a vector as long as the next power of two. */
function gathered(engine: FieldEngine, rooms: Rooms, matrix: Matrix, point: readonly Pair[]): number {
  const { width } = matrix.shape
  const bytes = vectorBytes(width)
  const out = rooms.room(bytes)
  engine.view(out, bytes).fill(0)
  const weights = rooms.weights(point)
  overRows(engine, rooms, matrix, (at, first, rows) => {
    engine.kernels.columnsTimesI8(at, weights + PAIR_BYTES * first, out, rows, width)
  })
  return out
}

const vectorBytes = (width: number): number => PAIR_BYTES * 2 ** coordinatesOf(width)

/** The same vector for whoever has another engine: what a device is asked for (W8.4.1). */
export const gatherRows = (engine: FieldEngine, matrix: Matrix, point: readonly Pair[]): Uint8Array =>
  engine.view(gathered(engine, new Rooms(engine), matrix, point), vectorBytes(matrix.shape.width)).slice()

/** W8.4. The proof that C, of which the roots alone are needed, is the product of A and B. */
export const proveSumcheck = (engine: FieldEngine, statement: ProductStatement, given: ProductOperands): Uint8Array =>
  proveRounds(engine, statement, given, new Transcript(statement))

/** The same where a device has A and B: it meets them with the weights of a point, and the rounds are made here. */
export async function proveGathered(
  engine: FieldEngine,
  statement: ProductStatement,
  gather: (operand: 'a' | 'b', point: readonly Pair[]) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const transcript = new Transcript(statement)
  const { row, column } = drawPoints(transcript, statement)
  const [v, w] = await Promise.all([gather('a', row), gather('b', column)])
  const rooms = new Rooms(engine)
  return sayRounds(engine, statement, transcript, { rooms, v: rooms.putBytes(v), w: rooms.putBytes(w) })
}

/** The same with draws of a transcript that goes on afterwards. */
export function proveRounds(
  engine: FieldEngine,
  statement: ProductStatement,
  given: ProductOperands,
  transcript: Transcript,
): Uint8Array {
  const shapes = shapesOf(statement)
  requireThat(given.a.length === tensorBytes(shapes.a), 'BAD_INPUT', 'a has another size')
  requireThat(given.b.length === tensorBytes(shapes.b), 'BAD_INPUT', 'b has another size')
  const { row, column } = drawPoints(transcript, statement)
  const rooms = new Rooms(engine)
  const v = gathered(engine, rooms, { shape: shapes.a, stretches: [given.a] }, row)
  const w = gathered(engine, rooms, { shape: shapes.b, stretches: [given.b] }, column)
  return sayRounds(engine, statement, transcript, { rooms, v, w })
}

/** W8.4.1 to W8.4.4, over vectors that lie in rooms and are used up. */
function sayRounds(
  { kernels }: FieldEngine,
  { k }: ProductStatement,
  transcript: Transcript,
  { rooms, v, w }: { readonly rooms: Rooms; readonly v: number; readonly w: number },
): Uint8Array {
  const out = rooms.room(2 * PAIR_BYTES)
  kernels.pairDot(v, w, out, 2 ** coordinatesOf(k))
  const said: Pair[] = [...rooms.read(out, 1)]
  transcript.absorb(said)
  for (let half = 2 ** coordinatesOf(k) / 2; half >= 1; half /= 2) {
    kernels.sumcheckRound(v, w, out, half)
    const round = rooms.read(out, 2)
    said.push(...round)
    transcript.absorb(round)
    const t = rooms.put(transcript.draw(1))
    kernels.sumcheckFold(v, t, half)
    kernels.sumcheckFold(w, t, half)
  }
  return encodePairs([...said, ...rooms.read(v, 1), ...rooms.read(w, 1)])
}

export interface Reduced extends Points {
  readonly inner: readonly Pair[]
  readonly claim: Pair
  readonly lastA: Pair
  readonly lastB: Pair
}

/** W8.5.1 to W8.5.3. The rounds alone: what is left are values of A, B and C to be looked at. */
export function reduceProduct(
  statement: ProductStatement,
  proof: Uint8Array,
  transcript = new Transcript(statement),
): Reduced | SumcheckProblem {
  const said = decodePairs(proof, proofPairs(statement.k))
  if (!said) return 'BAD_PROOF'
  const points = drawPoints(transcript, statement)
  const claim = said[0]!
  transcript.absorb([claim])
  const [lastA, lastB] = [said.at(-2)!, said.at(-1)!]
  const inner: Pair[] = []
  let left = claim
  for (let at = 1; at < said.length - 2; at += 2) {
    const [first, last] = [said[at]!, said[at + 1]!]
    transcript.absorb([first, last])
    const t = transcript.draw(1)[0]!
    const middle = minus(minus(left, plus(first, first)), last)
    left = plus(first, times(t, plus(middle, times(t, last))))
    // The highest bit is bound first; a point begins with the lowest.
    inner.unshift(t)
  }
  return isSame(left, times(lastA, lastB)) ? { ...points, inner, claim, lastA, lastB } : 'WRONG_ROUNDS'
}

/** The rounds alone, for whoever has none of the tensors: they refuse a broken proof, and show nothing of C. */
export function checkRounds(statement: ProductStatement, proof: Uint8Array): SumcheckProblem | null {
  const reduced = reduceProduct(statement, proof)
  return typeof reduced === 'string' ? reduced : null
}

/**
 * W8.5 without hashing: only for tensors whose roots were found to be the statement's. Whoever skips that believes a C that
 * was made after the draws.
 */
export function checkHashedSumcheck(
  engine: FieldEngine,
  statement: ProductStatement,
  { a, b, c }: ProductTensors,
  proof: Uint8Array,
): SumcheckProblem | null {
  const reduced = reduceProduct(statement, proof)
  if (typeof reduced === 'string') return reduced
  const { row, column, inner, claim, lastA, lastB } = reduced
  const shapes = shapesOf(statement)
  const shapeC: TensorShape = { type: 'i32', rows: statement.rows, width: statement.columns }
  if (!isSame(evaluate(engine, { shape: shapeC, stretches: c }, row, column), claim)) return 'WRONG_RESULT'
  if (!isSame(evaluate(engine, { shape: shapes.a, stretches: [a] }, row, inner), lastA)) return 'WRONG_OPERAND'
  if (!isSame(evaluate(engine, { shape: shapes.b, stretches: [b] }, column, inner), lastB)) return 'WRONG_OPERAND'
  return null
}

/** W8.5. The whole check; null where C is the product. */
export function checkSumcheck(
  engine: FieldEngine,
  hasher: Pick<TensorHasher, 'root'>,
  statement: ProductStatement,
  tensors: ProductTensors,
  proof: Uint8Array,
): SumcheckProblem | null {
  if (proof.length !== sumcheckProofBytes(statement.k)) return 'BAD_PROOF'
  if (!hasRoots(hasher, statement, tensors)) return 'WRONG_TENSOR'
  return checkHashedSumcheck(engine, statement, tensors, proof)
}

function hasRoots(hasher: Pick<TensorHasher, 'root'>, statement: ProductStatement, { a, b, c }: ProductTensors) {
  const { rootA, rootB, rootsC } = statement
  const shapes = shapesOf(statement)
  const isOf = (shape: TensorShape, bytes: Uint8Array | undefined, root: Uint8Array | undefined): boolean =>
    bytes !== undefined &&
    root !== undefined &&
    bytes.length === tensorBytes(shape) &&
    equalBytes(hasher.root(shape, bytes), root)
  return (
    c.length === shapes.c.length &&
    rootsC.length === shapes.c.length &&
    isOf(shapes.a, a, rootA) &&
    isOf(shapes.b, b, rootB) &&
    shapes.c.every((shape, i) => isOf(shape, c[i], rootsC[i]))
  )
}
