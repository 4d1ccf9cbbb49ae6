import { u64le } from '../../../bytes/bytes.ts'
import { HASH_BYTES } from '../../../proof/merkle.ts'
import type { Ops } from '../../program.ts'
import { requireThat } from '../../refusals.ts'
import { QUAD_BYTES } from '../../stepKernels.ts'
import type { OnStep, TensorMemory } from '../../tensorMemory.ts'
import { checkOpening, type OpenedRows, type OpeningProblem, openingError } from './checkOpening.ts'
import { type Quad, ZERO } from './field31.ts'
import { coordinatesOfPlan, MOST_ENTRY, type ProductsPlan, type StepPlan } from './plan.ts'
import { askedOperands, claimsOf, type ProductsProblem, productsError, reduceProducts, saidBytes } from './products.ts'
import { proveProducts } from './proveProducts.ts'
import { runKept } from './runKept.ts'
import {
  type Claim,
  COLUMNS,
  codeLength,
  furtherColumns,
  type KeptTensor,
  layoutOf,
  type Reveal,
  revealedRows,
  type StepLayout,
  shownBytes,
  spellLayout,
} from './stepLayout.ts'
import { StepMatrix } from './stepMatrix.ts'
import { classesOf, numbersOf } from './stepOpening.ts'
import { type StepEngine, StepRooms } from './stepRooms.ts'
import { StepTranscript } from './stepTranscript.ts'

/** What a proof is about: nothing of it may be changed without changing every draw. */
export interface StepStatement {
  readonly workId: Uint8Array
  readonly transition: number
  /** Of the matrix of everything that is kept. */
  readonly root: Uint8Array
  /** Whatever else was said before anything is drawn. */
  readonly more: Uint8Array
}

export type StepProblem =
  | ProductsProblem
  | OpeningProblem
  /** A result in the clear is a number that no product of this length comes to. */
  | 'RESULT_OUT_OF_RANGE'

/** W12.1.5. Where everything lies that a plan keeps. */
export const layoutOfPlan = ({ kept }: ProductsPlan): StepLayout =>
  layoutOf(kept.map(({ name, shape: { type, rows, width } }) => ({ name, type, rows, width }) as KeptTensor))

/** W12.2.4. The transcript begins with everything that is said before anything is drawn. */
export const transcriptOf = (layout: StepLayout, { workId, transition, root, more }: StepStatement): StepTranscript =>
  new StepTranscript(workId, u64le(transition), root, spellLayout(layout), more)

/** What was kept of a transition, under a root. */
export interface CommittedStep {
  readonly plan: ProductsPlan
  readonly rooms: StepRooms
  readonly matrix: StepMatrix
  readonly root: Uint8Array
}

/**
 * Runs a transition over a memory that holds the state before it; everything kept is coded and hashed on the way. Where the
 * engine works on that very memory, what is kept is made where it stays.
 */
export function commitStep<K>(
  engine: StepEngine,
  ops: Ops<K>,
  memory: TensorMemory<K>,
  plan: StepPlan,
  onStep: OnStep = () => {},
): CommittedStep {
  const rooms = new StepRooms(engine)
  const matrix = new StepMatrix(rooms, layoutOfPlan(plan))
  const isShared = memory.isOn(engine)
  const keeper = {
    add: (name: string, bytes: Uint8Array) => matrix.add(name, bytes),
    placeOf: (name: string) => (isShared ? matrix.placeOf(name) : null),
    addMade: (name: string) => matrix.addMade(name),
  }
  runKept(ops, memory, plan, keeper, onStep)
  return { plan, rooms, matrix, root: matrix.finish() }
}

/** W12.2. The proof that every product of the plan is right, and rows in the clear. */
export function proveCommittedStep(
  { plan, rooms, matrix }: Omit<CommittedStep, 'root'>,
  statement: StepStatement,
  reveals: readonly Reveal[],
): Uint8Array {
  const transcript = transcriptOf(matrix.layout, statement)
  const { said, claims } = proveProducts(rooms, plan, matrix, transcript)
  return matrix.open(claims, reveals, transcript, said)
}

/** W12.2.6. Whether every product is right of what is under the root; the rows asked for, one answer for each reveal. */
export function checkProducts(
  engine: StepEngine,
  plan: ProductsPlan,
  statement: StepStatement,
  reveals: readonly Reveal[],
  proof: Uint8Array,
): Pick<OpenedRows, 'revealed'> | StepProblem {
  const layout = layoutOfPlan(plan)
  const transcript = transcriptOf(layout, statement)
  const length = saidBytes(plan)
  const claims = reduceProducts(plan, transcript, proof.subarray(0, length))
  if (typeof claims === 'string') return claims
  const opening = proof.subarray(length)
  const opened = checkOpening(engine, layout, statement.root, claims, reveals, transcript, opening)
  if (typeof opened === 'string') return opened
  return areResults(plan, opened) ? { revealed: opened.revealed } : 'RESULT_OUT_OF_RANGE'
}

/** W12.2.7. Numbers of the field have one spelling as integers where no sum can be larger. */
function areResults({ kept, products }: ProductsPlan, { areWithin }: OpenedRows): boolean {
  return products.every(({ c, inner }) => areWithin(kept[c]!.name, inner * MOST_ENTRY ** 2))
}

/** The claims of a plan at points that are as different as drawn ones. */
function claimsAnywhere(plan: ProductsPlan): readonly Claim[] {
  const counts = coordinatesOfPlan(plan)
  const named = (count: number, name: number) => Array.from({ length: count }, (_, i): Quad => [i, name, 0, 0])
  const points = { r: named(counts.r, 0), s: named(counts.s, 1), z: named(counts.z, 2) }
  const zeros = (of: readonly unknown[]) => of.map(() => ZERO)
  return claimsOf(plan, points, zeros(plan.products), zeros(askedOperands(plan).asked))
}

/** W12.4. log2 of the chance that a wrong product passes, for one try: rounds and opening, so many rows of which are shown. */
const errorOf = (plan: ProductsPlan, layout: StepLayout, shownRows: number): number =>
  Math.log2(2 ** productsError(plan) + 2 ** openingError(layout, claimsAnywhere(plan), shownRows))

/** The same for the rows that were asked for. */
export function stepError(plan: ProductsPlan, reveals: readonly Reveal[]): number {
  const layout = layoutOfPlan(plan)
  return errorOf(plan, layout, rowCount(revealedRows(layout, reveals)))
}

const rowCount = (shown: readonly { readonly rows: readonly unknown[] }[]): number =>
  shown.reduce((sum, { rows }) => sum + rows.length, 0)

/** W12.4.5. Nothing is proven, and nothing believed, that is wrong with a larger chance than this, whatever is drawn. */
const MOST_LOG2_ERROR = -100

/** Throws a WorkRefusal where a plan has more products, or wider rows, than one proof is sure of. */
export function requireSure(plan: ProductsPlan): void {
  const layout = layoutOfPlan(plan)
  const error = errorOf(plan, layout, layout.rows.i8 + layout.rows.i32)
  // Rounded up: never better than it is.
  const chance = `2^${(Math.ceil(100 * error) / 100).toFixed(2)}`
  const what = `a wrong one of ${plan.products.length} products would pass with ${chance}, 2^${MOST_LOG2_ERROR} is the most`
  requireThat(error <= MOST_LOG2_ERROR, 'TOO_BIG', what)
}

/** A fifth of all columns is further ones, whose entries are longer: four sigma more are 1.3 times as many. */
const MANY_FURTHER = 1.3

/** About the most bytes that such a proof has: columns that are drawn twice are counted twice. */
export function productsBytes(plan: ProductsPlan, reveals: readonly Reveal[]): number {
  const layout = layoutOfPlan(plan)
  const { i8, i32 } = layout.rows
  const further = (MANY_FURTHER * COLUMNS * furtherColumns(layout)) / codeLength(layout)
  const besides = COLUMNS * (layout.low + 3 - Math.floor(Math.log2(COLUMNS)))
  const said = classesOf(layout, claimsAnywhere(plan)).reduce((sum, each) => sum + numbersOf(layout, each), 0)
  const shown = revealedRows(layout, reveals).reduce((sum, { tensor, rows }) => sum + shownBytes(tensor, rows), 0)
  const columns = COLUMNS * (i8 + 4 * i32) + further * 3 * i8 + HASH_BYTES * besides
  return saidBytes(plan) + QUAD_BYTES * said + shown + columns
}
