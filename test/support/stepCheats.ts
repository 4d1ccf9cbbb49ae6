import { concatBytes } from '../../src/core/bytes/bytes.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import {
  decodeQuads,
  encodeQuads,
  isSame,
  minus,
  ONE,
  P,
  plus,
  type Quad,
  times,
  ZERO,
} from '../../src/core/work/methods/step/field31.ts'
import {
  coordinatesOfPlan,
  type Kept,
  MOST_ENTRY,
  type PlannedProduct,
  type ProductsPlan,
} from '../../src/core/work/methods/step/plan.ts'
import {
  askedOperands,
  claimsOf,
  drawOuter,
  reduceProducts,
  roundAt,
  saidBytes,
} from '../../src/core/work/methods/step/products.ts'
import type { Claim, Reveal, StepLayout } from '../../src/core/work/methods/step/stepLayout.ts'
import { StepMatrix } from '../../src/core/work/methods/step/stepMatrix.ts'
import {
  checkProducts,
  layoutOfPlan,
  proveCommittedStep,
  type StepProblem,
  type StepStatement,
  transcriptOf,
} from '../../src/core/work/methods/step/stepProof.ts'
import { type StepEngine, StepRooms } from '../../src/core/work/methods/step/stepRooms.ts'
import { coordinatesOf } from '../../src/core/work/methods/sumcheck/evaluate.ts'
import { QUAD_BYTES } from '../../src/core/work/stepKernels.ts'
import { type Below, turned } from './sumcheckCheats.ts'
import { type Chance, chanceFrom } from './workTrials.ts'

type Tensors = ReadonlyMap<string, Uint8Array>

/** What is kept of a transition. */
interface KeptStep {
  readonly plan: ProductsPlan
  readonly tensors: Tensors
}

/** The same with a proof about it. */
export interface ProvenStep extends KeptStep {
  readonly statement: StepStatement
  readonly reveals: readonly Reveal[]
  readonly proof: Uint8Array
}

const kept = (name: string, type: 'i8' | 'i32', rows: number, width: number): Kept => ({
  name,
  shape: { type, rows, width },
  isTurned: false,
})

const of = (at: number, isTurned = false) => ({ kept: at, isTurned })

/** Two matrices on the same rows, and one of them back: x w^T, x v^T, dy w, dy^T x; and x with itself. */
function layerPlan(tokens: number, inputs: number, outputs: number): ProductsPlan {
  const products = [
    { a: of(0), b: of(1), rows: tokens, columns: outputs, inner: inputs },
    { a: of(0), b: of(2), rows: tokens, columns: outputs, inner: inputs },
    { a: of(3), b: of(1, true), rows: tokens, columns: inputs, inner: outputs },
    { a: of(3, true), b: of(0, true), rows: outputs, columns: inputs, inner: tokens },
    { a: of(0), b: of(0), rows: tokens, columns: tokens, inner: inputs },
  ]
  const operands = [
    kept('x', 'i8', tokens, inputs),
    kept('w', 'i8', outputs, inputs),
    kept('v', 'i8', outputs, inputs),
    kept('dy', 'i8', tokens, outputs),
  ]
  const results = products.map(({ rows, columns }, i) => kept(`c${i}`, 'i32', rows, columns))
  const numbered = products.map((product, i): PlannedProduct => ({ step: i, ...product, c: operands.length + i }))
  return { kept: [...operands, ...results], products: numbered }
}

/** Entries of operands: none is 0, so that another one is seen in a result. */
const entries = (chance: Chance, count: number): Int8Array =>
  chance.bytes(count).map((entry) => Math.max(-MOST_ENTRY, entry || 1))

/** The results of a plan over operands, by the definition. */
function multipliedUp({ kept: all, products }: ProductsPlan, tensors: Tensors): Tensors {
  const out = new Map(tensors)
  for (const { a, b, c, rows, columns, inner } of products) {
    const reader = ({ kept: at, isTurned }: typeof a) => {
      const { name, shape } = all[at]!
      const bytes = new Int8Array(tensors.get(name)!)
      return (row: number, l: number) => bytes[isTurned ? l * shape.width + row : row * shape.width + l]!
    }
    const [left, right] = [reader(a), reader(b)]
    const sums = new Int32Array(rows * columns)
    for (let i = 0; i < sums.length; i++)
      for (let l = 0; l < inner; l++) sums[i]! += left(Math.floor(i / columns), l) * right(i % columns, l)
    out.set(all[c]!.name, new Uint8Array(sums.buffer))
  }
  return out
}

function layerStep(chance: Chance): KeptStep {
  // Rows of x and of both matrices have padding.
  const plan = layerPlan(chance.whole(1, 6), chance.one([3, 5, 6, 7]), chance.whole(1, 6))
  const operands = plan.kept.filter(({ shape }) => shape.type === 'i8')
  const filled = operands.map(({ name, shape: { rows, width } }) => {
    return [name, new Uint8Array(entries(chance, rows * width).buffer)] as const
  })
  return { plan, tensors: multipliedUp(plan, new Map(filled)) }
}

/** Commits to tensors as they are, right or wrong. */
function commit(engine: StepEngine, { plan, tensors }: KeptStep) {
  const rooms = new StepRooms(engine)
  const matrix = new StepMatrix(rooms, layoutOfPlan(plan))
  for (const { name } of plan.kept) matrix.add(name, tensors.get(name)!)
  return { rooms, matrix, root: matrix.finish() }
}

/** A proof by the rules about any tensors. */
function proveKept(
  engine: StepEngine,
  { plan, tensors }: KeptStep,
  about: Omit<StepStatement, 'root'>,
  reveals: readonly Reveal[] = [],
): ProvenStep {
  const { rooms, matrix, root } = commit(engine, { plan, tensors })
  const statement = { ...about, root }
  const proof = proveCommittedStep({ plan, rooms, matrix }, statement, reveals)
  return { plan, tensors, statement, reveals, proof }
}

export function provenLayer(engine: StepEngine, seed: number): ProvenStep {
  const chance = chanceFrom(seed)
  const step = layerStep(chance)
  const about = { workId: sha256(Uint8Array.of(seed & 255)), transition: chance.whole(1, 9), more: Uint8Array.of(7) }
  const reveals = [{ name: 'c0', row: 0, rows: 1 }]
  return proveKept(engine, step, about, reveals)
}

export const judgeStep = (engine: StepEngine, { plan, statement, reveals, proof }: ProvenStep): StepProblem | null => {
  const judged = checkProducts(engine, plan, statement, reveals, proof)
  return typeof judged === 'string' ? judged : null
}

const withTensor = (honest: ProvenStep, name: string, bytes: Uint8Array): ProvenStep => ({
  ...honest,
  tensors: new Map([...honest.tensors, [name, bytes]]),
})

/** The best that a cheat can do by the rules: everything anew over what it has. */
const provenAnew = (engine: StepEngine, { plan, tensors, statement, reveals }: ProvenStep): ProvenStep =>
  proveKept(engine, { plan, tensors }, statement, reveals)

const withWrong = (engine: StepEngine, honest: ProvenStep, name: string, below: Below): ProvenStep =>
  provenAnew(engine, withTensor(honest, name, turned(honest.tensors.get(name)!, below)))

/** Says what it wants about the products, and opens what it has at the claims that follow. */
function openedWith(
  engine: StepEngine,
  honest: ProvenStep,
  say: (
    matrix: StepMatrix,
    transcript: ReturnType<typeof transcriptOf>,
  ) => { said: Uint8Array; claims: readonly Claim[] },
): ProvenStep {
  const { matrix, root } = commit(engine, honest)
  const statement = { ...honest.statement, root }
  const transcript = transcriptOf(matrix.layout, statement)
  const { said, claims } = say(matrix, transcript)
  return { ...honest, statement, proof: concatBytes(said, matrix.open(claims, honest.reveals, transcript)) }
}

const random = (below: Below): Quad => [below(P), below(P), below(P), below(P)]

function inverse(of: Quad): Quad {
  let [out, square] = [ONE, of]
  for (let left = BigInt(P) ** 4n - 2n; left > 0n; left >>= 1n, square = times(square, square))
    if (left & 1n) out = times(out, square)
  return out
}

/** Where the last values of the third product lie: its operands at these points are asked by no other. */
const ALONE = { product: 2, a: 3, b: 4 }

/** Values of a wrong result said truly; the lie is carried through every round into a last value. */
function liedThrough(engine: StepEngine, honest: ProvenStep, below: Below): ProvenStep {
  const { plan } = honest
  const lying = withTensor(honest, 'c1', turned(honest.tensors.get('c1')!, below))
  return openedWith(engine, lying, (matrix, transcript) => {
    const outer = drawOuter(plan, transcript)
    const results = plan.products.map(({ c, rows, columns }) => {
      const point = (of: readonly Quad[], size: number) => of.slice(0, coordinatesOf(size))
      return matrix.valueAt(plan.kept[c]!.name, point(outer.r, rows), point(outer.s, columns))
    })
    transcript.absorb(results)
    const gamma = transcript.draw(1)[0]!
    let left = results.reduceRight((sum, value) => plus(times(sum, gamma), value))
    const [rounds, z]: [Quad[], Quad[]] = [[], []]
    for (let i = 0; i < coordinatesOfPlan(plan).z; i++) {
      const [first, square] = [random(below), random(below)]
      rounds.push(first, square)
      transcript.absorb([first, square])
      z.unshift(transcript.draw(1)[0]!)
      left = roundAt(left, first, square, z[0]!)
    }
    const unreached = z.slice(coordinatesOf(plan.products[ALONE.product]!.inner))
    const scale = unreached.reduce((sum, t) => times(sum, minus(ONE, t)), times(gamma, gamma))
    const last = askedOperands(plan).asked.map((): Quad => ZERO)
    last[ALONE.b] = random(below)
    last[ALONE.a] = times(left, inverse(times(scale, last[ALONE.b]!)))
    const said = encodeQuads([...results, ...rounds, ...last])
    return { said, claims: claimsOf(plan, { ...outer, z }, results, last) }
  })
}

/** Last values that others have, over rounds that are right. */
function withLast(engine: StepEngine, honest: ProvenStep, change: (last: Quad[]) => void): ProvenStep {
  const { plan, proof } = honest
  return openedWith(engine, honest, (_, transcript) => {
    const said = proof.slice(0, saidBytes(plan))
    const claims = reduceProducts(plan, transcript, said)
    if (typeof claims === 'string') throw new Error(claims)
    const asked = askedOperands(plan).asked.length
    const last = [...decodeQuads(said.subarray(-QUAD_BYTES * asked), asked)!]
    change(last)
    said.set(encodeQuads(last), said.length - QUAD_BYTES * asked)
    const results = plan.products.length
    const changed = claims.map((claim, i) => (i < results ? claim : { ...claim, value: last[i - results]! }))
    return { said, claims: changed }
  })
}

/** Operands that go on where they are padded, and results that count that in. */
function paddedOn(engine: StepEngine, honest: ProvenStep, below: Below): ProvenStep {
  const shape = (name: string) => honest.plan.kept.find((of) => of.name === name)!.shape
  const [{ rows: tokens, width: inputs }, { rows: outputs }] = [shape('x'), shape('w')]
  const wide = layerPlan(tokens, 2 ** coordinatesOf(inputs), outputs)
  const widened = wide.kept.map(({ name, shape: { type, width } }) => {
    const own = honest.tensors.get(name)!
    const [from, size] = [shape(name).width, type === 'i8' ? 1 : 4]
    const bytes = new Uint8Array((own.length / from) * width)
    for (let at = 0; at < bytes.length; at++) {
      const [row, column] = [Math.floor(at / (width * size)), at % (width * size)]
      bytes[at] = column < from * size ? own[row * from * size + column]! : 1 + below(MOST_ENTRY)
    }
    return [name, bytes] as const
  })
  const tensors = multipliedUp(wide, new Map(widened))
  const { rooms, matrix, root } = commit(engine, { plan: wide, tensors })
  const narrow: { layout: StepLayout } = matrix
  narrow.layout = layoutOfPlan(honest.plan)
  const statement = { ...honest.statement, root }
  return {
    ...honest,
    statement,
    proof: proveCommittedStep({ plan: honest.plan, rooms, matrix }, statement, honest.reveals),
  }
}

/** A result in the clear that is p more: the same number of the field. */
function oneRoundMore(engine: StepEngine, honest: ProvenStep): ProvenStep {
  const sums = new Int32Array(honest.tensors.get('c0')!.slice().buffer)
  sums[0]! += sums[0]! > 0 ? -P : P
  return provenAnew(engine, withTensor(honest, 'c0', new Uint8Array(sums.buffer)))
}

const swapped = (honest: ProvenStep, one: string, other: string): ProvenStep => {
  const { tensors } = honest
  return withTensor(withTensor(honest, one, tensors.get(other)!), other, tensors.get(one)!)
}

type StepCheat = (engine: StepEngine, honest: ProvenStep, below: Below) => ProvenStep

const restated = (honest: ProvenStep, other: Partial<StepStatement>): ProvenStep => ({
  ...honest,
  statement: { ...honest.statement, ...other },
})

interface JudgedCheat {
  readonly cheat: StepCheat
  /** What it may be refused for. */
  readonly codes: readonly StepProblem[]
}

const foundBy = (codes: StepProblem | readonly StepProblem[], cheat: StepCheat): JudgedCheat => ({
  cheat,
  codes: [codes].flat(),
})

/** Everything a cheat may change, each with the best proof that it can make. */
export const STEP_CHEATS: Readonly<Record<string, JudgedCheat>> = {
  'a wrong entry of a result': foundBy('WRONG_VALUE', (engine, honest, below) =>
    withWrong(engine, honest, `c${below(5)}`, below),
  ),
  'a wrong entry of an operand': foundBy('WRONG_VALUE', (engine, honest, below) =>
    withWrong(engine, honest, below(2) ? 'x' : 'dy', below),
  ),
  'a wrong weight': foundBy('WRONG_VALUE', (engine, honest, below) =>
    withWrong(engine, honest, below(2) ? 'w' : 'v', below),
  ),
  'a wrong result whose value is said, carried through every round': foundBy('WRONG_VALUE', liedThrough),
  'two weights in each other’s place': foundBy('WRONG_VALUE', (engine, honest) =>
    provenAnew(engine, swapped(honest, 'w', 'v')),
  ),
  'two results in each other’s place': foundBy('WRONG_VALUE', (engine, honest) =>
    provenAnew(engine, swapped(honest, 'c0', 'c1')),
  ),
  'last values whose product stays': foundBy('WRONG_VALUE', (engine, honest, below) =>
    withLast(engine, honest, (last) => {
      const by: Quad = [2 + below(P - 2), below(P), below(P), below(P)]
      last[ALONE.a] = times(last[ALONE.a]!, by)
      last[ALONE.b] = times(last[ALONE.b]!, inverse(by))
    }),
  ),
  'claims in each other’s place': foundBy(['WRONG_ROUNDS', 'WRONG_VALUE'], (engine, honest, below) =>
    withLast(engine, honest, (last) => {
      const one = below(last.length)
      const other = last.findIndex((value) => !isSame(value, last[one]!))
      ;[last[one], last[other]] = [last[other]!, last[one]!]
    }),
  ),
  'operands that go on in their padding': foundBy(['WRONG_VALUE', 'WRONG_CODE'], paddedOn),
  'a result that is p more than it is': foundBy('RESULT_OUT_OF_RANGE', oneRoundMore),
  'a truncated proof': foundBy(['BAD_PROOF', 'BAD_OPENING'], (_, honest, below) => ({
    ...honest,
    proof: honest.proof.slice(0, below(honest.proof.length)),
  })),
  'an extended proof': foundBy('BAD_OPENING', (_, honest, below) => {
    const proof = new Uint8Array(honest.proof.length + 1 + below(64))
    proof.set(honest.proof)
    return { ...honest, proof }
  }),
  'a turned bit of the proof': foundBy(
    ['BAD_PROOF', 'WRONG_ROUNDS', 'BAD_OPENING', 'COLUMN_NOT_COMMITTED', 'WRONG_VALUE', 'WRONG_CODE'],
    (_, honest, below) => ({ ...honest, proof: turned(honest.proof, below) }),
  ),
  'the proof of another transition': foundBy('WRONG_ROUNDS', (_, honest) =>
    restated(honest, { transition: honest.statement.transition + 1 }),
  ),
  'the proof of another work': foundBy('WRONG_ROUNDS', (_, honest, below) =>
    restated(honest, { workId: turned(honest.statement.workId, below) }),
  ),
  'another thing said before': foundBy('WRONG_ROUNDS', (_, honest, below) =>
    restated(honest, { more: turned(honest.statement.more, below) }),
  ),
  'another root': foundBy('WRONG_ROUNDS', (_, honest, below) =>
    restated(honest, { root: turned(honest.statement.root, below) }),
  ),
}

/** So many random cheats of a kind; answers what passed, or was refused for something else, as the verdicts. */
export function stepCheatsAmiss(engine: StepEngine, { cheat, codes }: JudgedCheat, tries: number): readonly string[] {
  const chance = chanceFrom(tries)
  const below: Below = (bound) => chance.whole(0, bound - 1)
  const amiss: string[] = []
  for (let i = 0, honest: ProvenStep | undefined; i < tries; i++) {
    if (i % 4 === 0 || !honest) honest = provenLayer(engine, chance.whole(0, 2 ** 31))
    const verdict = judgeStep(engine, cheat(engine, honest, below))
    if (verdict === null || !codes.includes(verdict)) amiss.push(verdict ?? 'passed')
  }
  return amiss
}
