import { readFileSync } from 'node:fs'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { PLAIN_HASHER } from '../../src/core/work/engineRun.ts'
import { PAIR_BYTES } from '../../src/core/work/fieldKernels.ts'
import { coordinatesOf, evaluate, type FieldEngine } from '../../src/core/work/methods/sumcheck/evaluate.ts'
import {
  decodePairs,
  encodePairs,
  minus,
  P,
  type Pair,
  plus,
  times,
} from '../../src/core/work/methods/sumcheck/field.ts'
import { checkSumcheck, type ProductTensors, proveSumcheck } from '../../src/core/work/methods/sumcheck/sumcheck.ts'
import { type ProductStatement, Transcript } from '../../src/core/work/methods/sumcheck/transcript.ts'
import { fieldEngineOnOwned } from '../../src/core/work/workEngine.ts'
import { createWorkKernels } from '../../src/core/work/workKernels.ts'
import { chanceFrom } from './workTrials.ts'

const wasmBytes = new Uint8Array(readFileSync(new URL('../../kernels/built/work.wasm', import.meta.url)))

export const openWasmField = async (): Promise<FieldEngine> => fieldEngineOnOwned(await createWorkKernels(wasmBytes))

export interface Sizes {
  readonly rows: number
  readonly columns: number
  readonly k: number
  readonly block: number
}

export interface Proven {
  readonly statement: ProductStatement
  readonly tensors: ProductTensors
  readonly proof: Uint8Array
}

/** The statement about tensors, with their own roots. */
export function stateProduct(sizes: Sizes, workId: Uint8Array, { a, b, c }: ProductTensors): ProductStatement {
  const { rows, columns, k } = sizes
  const rootA = PLAIN_HASHER.root({ type: 'i8', rows, width: k }, a)
  const rootB = PLAIN_HASHER.root({ type: 'i8', rows: columns, width: k }, b)
  const rootsC = c.map((bytes) =>
    PLAIN_HASHER.root({ type: 'i32', rows: bytes.length / 4 / columns, width: columns }, bytes),
  )
  return { ...sizes, workId, rootA, rootB, rootsC }
}

/** C in blocks of rows, by the definition. */
export function multiplied({ rows, columns, k, block }: Sizes, a: Uint8Array, b: Uint8Array): Uint8Array[] {
  const [x, y] = [new Int8Array(a), new Int8Array(b)]
  const out = new Int32Array(rows * columns)
  for (let i = 0; i < out.length; i++) {
    const [row, column] = [Math.floor(i / columns), i % columns]
    for (let l = 0; l < k; l++) out[i]! += x[row * k + l]! * y[column * k + l]!
  }
  const bytes = new Uint8Array(out.buffer)
  const stride = 4 * columns * block
  return Array.from({ length: Math.ceil(rows / block) }, (_, i) => bytes.slice(i * stride, (i + 1) * stride))
}

/** An honest product with its proof. */
export function provenProduct(engine: FieldEngine, sizes: Sizes, seed: number): Proven {
  const chance = chanceFrom(seed)
  const a = new Uint8Array(chance.bytes(sizes.rows * sizes.k).buffer)
  const b = new Uint8Array(chance.bytes(sizes.columns * sizes.k).buffer)
  const tensors = { a, b, c: multiplied(sizes, a, b) }
  const statement = stateProduct(sizes, sha256(Uint8Array.of(seed & 255)), tensors)
  return { statement, tensors, proof: proveSumcheck(engine, statement, tensors) }
}

export const judge = (engine: FieldEngine, { statement, tensors, proof }: Proven) =>
  checkSumcheck(engine, PLAIN_HASHER, statement, tensors, proof)

/** A whole number below a bound, of a cheat's own chance. */
export type Below = (bound: number) => number

/** A random bit of some bytes turned. */
export function turned(bytes: Uint8Array, below: Below): Uint8Array {
  const out = bytes.slice()
  out[below(out.length)]! ^= 1 << below(8)
  return out
}

const withTensor = (tensors: ProductTensors, name: 'a' | 'b' | 'c', below: Below): ProductTensors => {
  if (name !== 'c') return { ...tensors, [name]: turned(tensors[name], below) }
  const block = below(tensors.c.length)
  return { ...tensors, c: tensors.c.map((bytes, i) => (i === block ? turned(bytes, below) : bytes)) }
}

/** The cheat has the last word: roots are of what it hands over, so that the mathematics alone can find it. */
const restated = (honest: Proven, tensors: ProductTensors): ProductStatement =>
  stateProduct(honest.statement, honest.statement.workId, tensors)

/** Rounds that are right, over last values that are not the operands': one doubled, the other halved. */
function withForeignValues(honest: Proven): Proven {
  const said = [...decodePairs(honest.proof, honest.proof.length / PAIR_BYTES)!]
  const [a, b] = said.splice(-2) as [Pair, Pair]
  const half = { re: (P + 1n) / 2n, im: 0n }
  return { ...honest, proof: encodePairs([...said, plus(a, a), times(b, half)]) }
}

/** A wrong C whose value is claimed truly; the lie is carried through every round, and into the last value of A. */
function liedThrough(engine: FieldEngine, honest: Proven, below: Below): Proven {
  const tensors = withTensor(honest.tensors, 'c', below)
  const statement = restated(honest, tensors)
  const { rows, columns, k } = statement
  const transcript = new Transcript(statement)
  const drawn = transcript.draw(coordinatesOf(rows) + coordinatesOf(columns))
  const shape = { type: 'i32', rows, width: columns } as const
  const [row, column] = [drawn.slice(0, coordinatesOf(rows)), drawn.slice(coordinatesOf(rows))]
  const claim = evaluate(engine, { shape, stretches: tensors.c }, row, column)
  transcript.absorb([claim])
  const said = [claim]
  let left = claim
  for (let round = 0; round < coordinatesOf(k); round++) {
    const [first, last] = [0, 1].map(() => ({ re: BigInt(below(2 ** 30)), im: BigInt(below(2 ** 30)) })) as [Pair, Pair]
    transcript.absorb([first, last])
    const t = transcript.draw(1)[0]!
    const middle = minus(minus(left, plus(first, first)), last)
    left = plus(first, times(t, plus(middle, times(t, last))))
    said.push(first, last)
  }
  return { statement, tensors, proof: encodePairs([...said, left, { re: 1n, im: 0n }]) }
}

type Cheat = (engine: FieldEngine, honest: Proven, below: Below) => Proven

/** Everything a cheat may change, each with the best proof that it can make. */
export const SUMCHECK_CHEATS: Readonly<Record<string, Cheat>> = {
  'a wrong entry of C, its own roots and a new proof': (engine, honest, below) => {
    const tensors = withTensor(honest.tensors, 'c', below)
    const statement = restated(honest, tensors)
    return { statement, tensors, proof: proveSumcheck(engine, statement, tensors) }
  },
  'a wrong entry of C under the old proof and roots': (_, honest, below) => ({
    ...honest,
    tensors: withTensor(honest.tensors, 'c', below),
  }),
  'a wrong operand, its own roots, proven honestly for the old C': (engine, honest, below) => {
    const tensors = withTensor(honest.tensors, below(2) ? 'a' : 'b', below)
    const statement = restated(honest, tensors)
    const proof = proveSumcheck(engine, statement, tensors)
    return { statement, tensors, proof }
  },
  'a proof of other operands than those committed': (engine, honest, below) => {
    const other = withTensor(honest.tensors, below(2) ? 'a' : 'b', below)
    return { ...honest, proof: proveSumcheck(engine, honest.statement, other) }
  },
  'a wrong transcript': (engine, honest, below) => {
    const { statement } = honest
    const name = (['workId', 'rootA', 'rootB', 'rootsC'] as const)[below(4)]!
    const changed =
      name === 'rootsC' ? statement.rootsC.map((root) => turned(root, below)) : turned(statement[name], below)
    return { ...honest, proof: proveSumcheck(engine, { ...statement, [name]: changed }, honest.tensors) }
  },
  'a truncated proof': (_, honest, below) => ({ ...honest, proof: honest.proof.slice(0, below(honest.proof.length)) }),
  'an extended proof': (_, honest, below) => {
    const proof = new Uint8Array(honest.proof.length + 1 + below(64))
    proof.set(honest.proof)
    return { ...honest, proof }
  },
  'last values that are not those of the operands': (_, honest) => withForeignValues(honest),
  'a wrong C with its own value, carried through every round': liedThrough,
  'a turned bit of the proof': (_, honest, below) => ({ ...honest, proof: turned(honest.proof, below) }),
}

/** So many random cheats of a kind, over a few honest proofs; answers what passed. */
export function cheatsThatPass(engine: FieldEngine, cheat: Cheat, tries: number): number {
  const chance = chanceFrom(tries)
  const below: Below = (bound) => chance.whole(0, bound - 1)
  let passed = 0
  for (let i = 0, honest: Proven | undefined; i < tries; i++) {
    const [rows, columns, k] = [chance.whole(4, 9), chance.whole(4, 9), chance.whole(2, 17)]
    if (i % 16 === 0 || !honest)
      honest = provenProduct(engine, { rows, columns, k, block: chance.whole(2, rows) }, chance.whole(0, 2 ** 31))
    if (judge(engine, cheat(engine, honest, below)) === null) passed++
  }
  return passed
}
