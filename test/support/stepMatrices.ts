import { readFileSync } from 'node:fs'
import { checkOpening } from '../../src/core/work/methods/step/checkOpening.ts'
import {
  areBelowP,
  decodeQuads,
  encodeQuads,
  minus,
  ONE,
  P,
  plus,
  times,
} from '../../src/core/work/methods/step/field31.ts'
import {
  type Claim,
  COLUMNS,
  codeLength,
  type KeptTensor,
  layoutOf,
  type Reveal,
  type StepLayout,
  spellLayout,
} from '../../src/core/work/methods/step/stepLayout.ts'
import { StepMatrix } from '../../src/core/work/methods/step/stepMatrix.ts'
import { classesOf, numbersOf } from '../../src/core/work/methods/step/stepOpening.ts'
import { type StepEngine, StepRooms } from '../../src/core/work/methods/step/stepRooms.ts'
import { StepTranscript } from '../../src/core/work/methods/step/stepTranscript.ts'
import { coordinatesOf } from '../../src/core/work/methods/sumcheck/evaluate.ts'
import { QUAD_BYTES } from '../../src/core/work/stepKernels.ts'
import { ELEMENT_BYTES } from '../../src/core/work/tensor.ts'
import { tensorRoot } from '../../src/core/work/tensorTree.ts'
import { stepEngineOnOwned } from '../../src/core/work/workEngine.ts'
import { createWorkKernels } from '../../src/core/work/workKernels.ts'
import { type Below, turned } from './sumcheckCheats.ts'
import { chanceFrom } from './workTrials.ts'

const wasmBytes = new Uint8Array(readFileSync(new URL('../../kernels/built/work.wasm', import.meta.url)))

export const openWasmStep = async (): Promise<StepEngine> => stepEngineOnOwned(await createWorkKernels(wasmBytes))

/** A matrix that was opened, and everything that whoever checks is told. */
export interface OpenedMatrix {
  readonly tensors: readonly KeptTensor[]
  readonly bytes: readonly Uint8Array[]
  readonly layout: StepLayout
  readonly matrix: StepMatrix
  readonly root: Uint8Array
  readonly claims: readonly Claim[]
  readonly reveals: readonly Reveal[]
  readonly proof: Uint8Array
}

export function committedMatrix(engine: StepEngine, tensors: readonly KeptTensor[], bytes: readonly Uint8Array[]) {
  const layout = layoutOf(tensors)
  const matrix = new StepMatrix(new StepRooms(engine), layout)
  for (const [i, { name }] of tensors.entries()) matrix.add(name, bytes[i]!)
  return { layout, matrix, root: matrix.finish() }
}

export const transcriptOf = (layout: StepLayout, root: Uint8Array): StepTranscript =>
  new StepTranscript(spellLayout(layout), root)

/** Every tensor asked at two points, and some of its rows. */
export function openedMatrix(
  engine: StepEngine,
  tensors: readonly KeptTensor[],
  bytes: readonly Uint8Array[],
  reveals: readonly Reveal[],
): OpenedMatrix {
  const { layout, matrix, root } = committedMatrix(engine, tensors, bytes)
  const points = transcriptOf(layout, root).draw(40)
  const claims = tensors.flatMap(({ name, rows, width }) =>
    [0, 1].map((i): Claim => {
      const row = points.slice(i, i + coordinatesOf(rows))
      const column = points.slice(17 + i, 17 + i + coordinatesOf(width))
      return { name, row, column, value: matrix.valueAt(name, row, column) }
    }),
  )
  const proof = matrix.open(claims, reveals, transcriptOf(layout, root))
  return { tensors, bytes, layout, matrix, root, claims, reveals, proof }
}

export const judgeOpening = (engine: StepEngine, { layout, root, claims, reveals, proof }: OpenedMatrix) =>
  checkOpening(engine, layout, root, claims, reveals, transcriptOf(layout, root), proof)

/** Chance that answers what it is told: an honest opening at columns of somebody else's choice. */
class ToldTranscript extends StepTranscript {
  readonly #columns: readonly number[]
  constructor(columns: readonly number[]) {
    super()
    this.#columns = columns
  }
  override places = (): readonly number[] => this.#columns
}

/** The combined rows of an opening, and the rows that it shows. */
function partsOf({ layout, matrix, reveals }: OpenedMatrix, claims: readonly Claim[], proof: Uint8Array) {
  const said = classesOf(layout, claims).reduce((sum, each) => sum + QUAD_BYTES * numbersOf(layout, each), 0)
  const both = matrix.open(claims, reveals, new ToldTranscript([])).length
  return { said: proof.slice(0, said), shown: proof.slice(said, both) }
}

/** W12.1.3. What a long stretch is absorbed as. */
const rootOf = (bytes: Uint8Array): Uint8Array =>
  bytes.length === 0 ? bytes : tensorRoot({ type: 'u8', rows: 1, width: bytes.length }, bytes)

/** Something else is said or shown, and the honest columns are opened where the draws fall then. */
function withSaid(honest: OpenedMatrix, claims: readonly Claim[], said: Uint8Array, shown: Uint8Array): OpenedMatrix {
  const transcript = transcriptOf(honest.layout, honest.root)
  transcript.absorb(claims.map(({ value }) => value))
  for (const part of [said, shown]) transcript.absorbBytes(rootOf(part))
  const columns = transcript.places(COLUMNS, codeLength(honest.layout))
  const proof = honest.matrix.open(claims, honest.reveals, new ToldTranscript(columns))
  proof.set(said)
  proof.set(shown, said.length)
  return { ...honest, claims, proof }
}

/** The first claim off by the weight of index 0, and its combined row off by 1 there: the value fits. */
function withFittingRow(honest: OpenedMatrix): OpenedMatrix {
  const { layout, matrix, root, reveals } = honest
  const { coordinates } = classesOf(layout, honest.claims)[0]!
  const off = coordinates.map((at) => minus(ONE, at)).reduce(times, ONE)
  const claims = honest.claims.map((claim, i) => (i === 0 ? { ...claim, value: plus(claim.value, off) } : claim))
  const { said, shown } = partsOf(honest, claims, matrix.open(claims, reveals, transcriptOf(layout, root)))
  said.set(encodeQuads([plus(decodeQuads(said.subarray(0, QUAD_BYTES), 1)![0]!, ONE)]))
  return withSaid(honest, claims, said, shown)
}

export type StepCheat = (engine: StepEngine, honest: OpenedMatrix, below: Below) => OpenedMatrix

/** A number of the opening at p or above, where numbers of the field lie. */
function misspelled(honest: OpenedMatrix, below: Below): OpenedMatrix {
  const { said } = partsOf(honest, honest.claims, honest.proof)
  const proof = honest.proof.slice()
  const at = 4 * below(said.length / 4)
  const view = new DataView(proof.buffer)
  // The same number once more, where that fits: a second spelling.
  view.setUint32(at, view.getUint32(at, true) + P, true)
  return { ...honest, proof }
}

/** Everything a cheat may change, each with the best opening that it can make. */
export const STEP_CHEATS: Readonly<Record<string, StepCheat>> = {
  'a wrong value': (_, honest, below) => {
    const wrong = below(honest.claims.length)
    const claims = honest.claims.map((claim, i) =>
      i === wrong ? { ...claim, value: plus(claim.value, [1 + below(P - 1), below(P), 0, 0]) } : claim,
    )
    const { layout, matrix, root, reveals } = honest
    return { ...honest, claims, proof: matrix.open(claims, reveals, transcriptOf(layout, root)) }
  },
  'a wrong value, and a combined row that leads to it': (_, honest) => withFittingRow(honest),
  'a wrong combined row': (_, honest, below) => {
    const { said, shown } = partsOf(honest, honest.claims, honest.proof)
    return withSaid(honest, honest.claims, swappedWord(said, below), shown)
  },
  'a wrong entry in a row that is shown': (_, honest, below) => {
    const { said, shown } = partsOf(honest, honest.claims, honest.proof)
    return withSaid(honest, honest.claims, said, turned(shown, below))
  },
  'a wrong entry of a tensor, under the honest root': (engine, honest, below) => {
    const wrong = below(honest.tensors.length)
    const bytes = honest.bytes.map((own, i) => (i === wrong ? turned(own, below) : own))
    const { matrix } = committedMatrix(engine, honest.tensors, bytes)
    const { layout, root, reveals } = honest
    const claims = honest.claims.map(({ name, row, column }) => ({
      ...{ name, row, column },
      value: matrix.valueAt(name, row, column),
    }))
    return { ...honest, claims, proof: matrix.open(claims, reveals, transcriptOf(layout, root)) }
  },
  'a code that is none': (engine, honest, below) => {
    const { kernels } = engine
    const spoiled: StepEngine = {
      ...engine,
      kernels: {
        ...kernels,
        stepCode: (x, tables, room, out, size, rows, low) => {
          kernels.stepCode(x, tables, room, out, size, rows, low)
          const further = engine.view(out, 64 * 2 ** (low - 2))
          for (let at = 0; at < further.length; at += 64) if (below(2)) further[at]! ^= 1
          return 0
        },
      },
    }
    return openedMatrix(spoiled, honest.tensors, honest.bytes, honest.reveals)
  },
  'the columns of other draws': (_, honest, below) => {
    const { said, shown } = partsOf(honest, honest.claims, honest.proof)
    const other = Array.from({ length: COLUMNS }, () => below(codeLength(honest.layout)))
    const proof = honest.matrix.open(honest.claims, honest.reveals, new ToldTranscript(other))
    proof.set(said)
    proof.set(shown, said.length)
    return { ...honest, proof }
  },
  'the root of another matrix': (_, honest, below) => ({ ...honest, root: turned(honest.root, below) }),
  'a truncated opening': (_, honest, below) => ({
    ...honest,
    proof: honest.proof.slice(0, below(honest.proof.length)),
  }),
  'an extended opening': (_, honest, below) => {
    const proof = new Uint8Array(honest.proof.length + 1 + below(64))
    proof.set(honest.proof)
    return { ...honest, proof }
  },
  'a number not in its spelling': (_, honest, below) => misspelled(honest, below),
  'a turned bit of the opening': (_, honest, below) => ({ ...honest, proof: turned(honest.proof, below) }),
}

/** Two bytes of one number exchanged for others that keep it below p. */
function swappedWord(said: Uint8Array, below: Below): Uint8Array {
  const out = said.slice()
  out[4 * below(out.length / 4)]! ^= 1 + below(255)
  return areBelowP(out) ? out : swappedWord(said, below)
}

const SHAPES: readonly (readonly [readonly KeptTensor[], readonly Reveal[]])[] = [
  [
    [
      { name: 'a', type: 'i8', rows: 24, width: 12 },
      { name: 'c', type: 'i32', rows: 32, width: 16 },
    ],
    [{ name: 'a', row: 2, rows: 3 }],
  ],
  [
    [
      { name: 'c', type: 'i32', rows: 3, width: 100 },
      { name: 'a', type: 'i8', rows: 40, width: 32 },
      { name: 'b', type: 'i8', rows: 8, width: 32 },
    ],
    [{ name: 'c', row: 2, rows: 1 }],
  ],
]

/** A matrix of chance, opened honestly. */
export function someMatrix(engine: StepEngine, seed: number): OpenedMatrix {
  const chance = chanceFrom(seed)
  const [tensors, reveals] = SHAPES[seed % SHAPES.length]!
  const bytes = tensors.map(({ type, rows, width }) => {
    const made = chance.bytes(rows * width * ELEMENT_BYTES[type])
    return new Uint8Array(made.buffer, made.byteOffset, made.length)
  })
  return openedMatrix(engine, tensors, bytes, reveals)
}

/** So many random cheats of a kind, over a few honest openings; answers what passed. */
export function stepCheatsThatPass(engine: StepEngine, other: StepEngine, cheat: StepCheat, tries: number): number {
  const chance = chanceFrom(tries)
  const below: Below = (bound) => chance.whole(0, bound - 1)
  let passed = 0
  for (let i = 0, honest: OpenedMatrix | undefined; i < tries; i++) {
    if (i % 16 === 0 || !honest) honest = someMatrix(engine, chance.whole(0, 2 ** 31))
    if (typeof judgeOpening(other, cheat(other, honest, below)) !== 'string') passed++
  }
  return passed
}
