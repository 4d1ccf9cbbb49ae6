import { concatBytes } from '../../src/core/bytes/bytes.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { PLAIN_HASHER } from '../../src/core/work/engineRun.ts'
import { PAIR_BYTES } from '../../src/core/work/fieldKernels.ts'
import { columnsShape, layoutOf } from '../../src/core/work/methods/sumcheck/code.ts'
import {
  type CommittedStatement,
  checkCommitted,
  proveCommitted,
} from '../../src/core/work/methods/sumcheck/committed.ts'
import type { FieldEngine } from '../../src/core/work/methods/sumcheck/evaluate.ts'
import { encodePairs, P, plus, times } from '../../src/core/work/methods/sumcheck/field.ts'
import {
  type CodedOperand,
  codeOf,
  codeOperand,
  openOperand,
} from '../../src/core/work/methods/sumcheck/operandCode.ts'
import { proveRounds, reduceProduct } from '../../src/core/work/methods/sumcheck/sumcheck.ts'
import { Transcript } from '../../src/core/work/methods/sumcheck/transcript.ts'
import { type Below, multiplied, type Sizes, stateProduct, turned } from './sumcheckCheats.ts'
import { chanceFrom } from './workTrials.ts'

export interface Committed {
  readonly statement: CommittedStatement
  readonly a: CodedOperand
  readonly b: CodedOperand
  readonly c: readonly Uint8Array[]
  readonly proof: Uint8Array
}

const coded = (engine: FieldEngine, rows: number, width: number, bytes: Uint8Array): CodedOperand =>
  codeOperand(engine, PLAIN_HASHER, { type: 'i8', rows, width }, bytes)

export function commitProduct(
  engine: FieldEngine,
  sizes: Sizes,
  workId: Uint8Array,
  given: { readonly a: Uint8Array; readonly b: Uint8Array },
): Committed {
  const c = multiplied(sizes, given.a, given.b)
  const [a, b] = [coded(engine, sizes.rows, sizes.k, given.a), coded(engine, sizes.columns, sizes.k, given.b)]
  const stated = stateProduct(sizes, workId, { ...given, c })
  const statement = { ...stated, codeA: a.code, codeB: b.code }
  return { statement, a, b, c, proof: proveCommitted(engine, PLAIN_HASHER, statement, a, b) }
}

export function committedProduct(engine: FieldEngine, sizes: Sizes, seed: number): Committed {
  const chance = chanceFrom(seed)
  const a = new Uint8Array(chance.bytes(sizes.rows * sizes.k).buffer)
  const b = new Uint8Array(chance.bytes(sizes.columns * sizes.k).buffer)
  return commitProduct(engine, sizes, sha256(Uint8Array.of(seed & 255)), { a, b })
}

export const judgeCommitted = (engine: FieldEngine, { statement, c, proof }: Committed) =>
  checkCommitted(engine, PLAIN_HASHER, statement, c, proof)

/** The last two values moved, so that their product stays, and both codes opened anew: the rounds hold. */
function withForeignValues(engine: FieldEngine, { statement, a, b }: Committed): Uint8Array {
  const transcript = () => new Transcript(statement, [statement.codeA, statement.codeB])
  const going = transcript()
  const rounds = proveRounds(engine, statement, { a: a.bytes, b: b.bytes }, going)
  const reduced = reduceProduct(statement, rounds, transcript())
  if (typeof reduced === 'string') throw new Error(reduced)
  const { row, column, inner, lastA, lastB } = reduced
  const foreign = [plus(lastA, lastA), times(lastB, { re: (P + 1n) / 2n, im: 0n })]
  going.absorb(foreign)
  return concatBytes(
    rounds.subarray(0, -2 * PAIR_BYTES),
    encodePairs(foreign),
    openOperand(engine, PLAIN_HASHER, a, { row, column: inner }, going),
    openOperand(engine, PLAIN_HASHER, b, { row: column, column: inner }, going),
  )
}

/** Columns of a code with something else in them, under their own root. */
function spoiled(operand: CodedOperand, spoil: (columns: Uint8Array) => void): CodedOperand {
  const columns = operand.columns.slice()
  spoil(columns)
  const tree = PLAIN_HASHER.tree(columnsShape(layoutOf(operand.shape.rows, operand.shape.width)), columns)
  return { ...operand, columns, tree, code: codeOf(operand.shape, tree.root) }
}

export type CommittedCheat = (engine: FieldEngine, honest: Committed, below: Below) => Committed

const anew = (engine: FieldEngine, honest: Committed, a: CodedOperand): Committed => {
  const statement = { ...honest.statement, rootA: a.root, codeA: a.code }
  return { ...honest, statement, a, proof: proveCommitted(engine, PLAIN_HASHER, statement, a, honest.b) }
}

/** Everything a cheat may change, each with the best proof that it can make. */
export const COMMITTED_CHEATS: Readonly<Record<string, CommittedCheat>> = {
  'last values that are not those of what was committed to': (engine, honest) => ({
    ...honest,
    proof: withForeignValues(engine, honest),
  }),
  'another operand than the committed one, under its old code': (engine, honest, below) => {
    const { shape, bytes } = honest.a
    const other = coded(engine, shape.rows, shape.width, turned(bytes, below))
    const mixed = { ...other, columns: honest.a.columns, tree: honest.a.tree, code: honest.a.code }
    const c = multiplied(honest.statement, other.bytes, honest.b.bytes)
    const stated = stateProduct(honest.statement, honest.statement.workId, { a: other.bytes, b: honest.b.bytes, c })
    const { codeA, codeB } = honest.statement
    return anew(engine, { ...honest, c, statement: { ...stated, codeA, codeB } }, mixed)
  },
  'a wrong C with its own roots and an honest proof of the rest': (engine, honest, below) => {
    const block = below(honest.c.length)
    const c = honest.c.map((bytes, i) => (i === block ? turned(bytes, below) : bytes))
    const given = { a: honest.a.bytes, b: honest.b.bytes, c }
    const stated = stateProduct(honest.statement, honest.statement.workId, given)
    const { codeA, codeB } = honest.statement
    const statement = { ...stated, codeA, codeB }
    return { ...honest, c, statement, proof: proveCommitted(engine, PLAIN_HASHER, statement, honest.a, honest.b) }
  },
  'a code that is none: half of its columns are chance': (engine, honest, below) =>
    anew(
      engine,
      honest,
      spoiled(honest.a, (columns) => {
        for (let at = 0; at < columns.length; at += 8) if (below(2)) columns[at] = below(256)
      }),
    ),
  'a truncated proof': (_, honest, below) => ({ ...honest, proof: honest.proof.slice(0, below(honest.proof.length)) }),
  'an extended proof': (_, honest, below) => {
    const proof = new Uint8Array(honest.proof.length + 1 + below(64))
    proof.set(honest.proof)
    return { ...honest, proof }
  },
  'a turned bit of the proof': (_, honest, below) => ({ ...honest, proof: turned(honest.proof, below) }),
  'another code': (_, honest, below) => ({
    ...honest,
    statement: { ...honest.statement, codeB: turned(honest.statement.codeB, below) },
  }),
}

/** So many random cheats of a kind, over a few honest proofs; answers what passed. */
export function committedCheatsThatPass(engine: FieldEngine, cheat: CommittedCheat, tries: number): number {
  const chance = chanceFrom(tries)
  const below: Below = (bound) => chance.whole(0, bound - 1)
  let passed = 0
  for (let i = 0, honest: Committed | undefined; i < tries; i++) {
    const [rows, columns, k] = [chance.whole(1, 5), chance.whole(1, 4), chance.whole(2, 9)]
    if (i % 16 === 0 || !honest)
      honest = committedProduct(engine, { rows, columns, k, block: chance.whole(1, rows) }, chance.whole(0, 2 ** 31))
    if (judgeCommitted(engine, cheat(engine, honest, below)) === null) passed++
  }
  return passed
}
