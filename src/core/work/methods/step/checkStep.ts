import { concatBytes, equalBytes, words32 } from '../../../bytes/bytes.ts'
import { HASH_BYTES } from '../../../proof/merkle.ts'
import { areFigures } from '../../checkSegment.ts'
import { Cursor } from '../../cursor.ts'
import type { TensorHasher } from '../../engineRun.ts'
import { patchRunner } from '../../runPatch.ts'
import { type StateMark, stateRoot } from '../../stateChain.ts'
import { ELEMENT_BYTES, leafSpan, leavesOf, outsideFault, rowBytes, tensorBytes } from '../../tensor.ts'
import { TensorMemory } from '../../tensorMemory.ts'
import { depthOf, proofBytes } from '../../tensorTree.ts'
import type { Work } from '../../work.ts'
import type { ExactEngine } from '../../workEngine.ts'
import type { WorkKernels } from '../../workKernels.ts'
import { WORK_PROBLEMS } from '../../workProblems.ts'
import { replaySequence } from './replay.ts'
import {
  drawRest,
  type Openings,
  openRows,
  openShared,
  openTies,
  type RestDraws,
  restSeed,
  revealsOf,
  rowsOfSequence,
  type SaidStep,
  spellSaid,
  type TakeHeld,
  type Tensors,
  type TransitionProof,
  tieKey,
  touchPatch,
} from './rest.ts'
import { isLookup, type RestPlan } from './restPlan.ts'
import type { Reveal } from './stepLayout.ts'
import { checkProducts, type StepProblem } from './stepProof.ts'
import type { StepEngine } from './stepRooms.ts'

/** Why the proof of a transition is not believed, besides what is wrong with its products. */
export const REST_PROBLEMS = {
  ROOTS_MISSING: { meaning: 'there are not as many roots as tensors with a tree' },
  STATE_BEFORE_DIFFERS: WORK_PROBLEMS.STATE_BEFORE_DIFFERS,
  STATE_AFTER_DIFFERS: WORK_PROBLEMS.STATE_AFTER_DIFFERS,
  STATISTICS_DIFFER: WORK_PROBLEMS.STATISTICS_DIFFER,
  PROOF_SIZE: { meaning: 'the proof has more or fewer bytes than the draws ask for' },
  INPUT_NOT_COMMITTED: { meaning: 'rows of an input that were opened are not those of the input' },
  INPUT_FAULT: WORK_PROBLEMS.INPUT_FAULT,
  SHARED_NOT_COMMITTED: { meaning: 'a tensor that sequences have together is not the one that was committed' },
  TIE_NOT_COMMITTED: { meaning: 'opened columns of a drawn sequence are not those that were committed' },
  VECTOR_WRONG: { meaning: 'a step over vectors was not computed as its definition says' },
  PATCH_NOT_COMMITTED: WORK_PROBLEMS.PATCH_NOT_COMMITTED,
  PATCH_WRONG: WORK_PROBLEMS.PATCH_WRONG,
  STEP_WRONG: { meaning: 'a step of a drawn sequence was not computed as its definition says' },
  COLUMNS_WRONG: { meaning: 'what is summed over all sequences is not what a drawn sequence adds to it' },
} as const

export interface TransitionProblem {
  readonly code: keyof typeof REST_PROBLEMS | StepProblem
  /** The op that is wrong, and the tensor it made. */
  readonly step?: string
  readonly tensor?: string
  readonly sequence?: number
}

/** Each with a memory of its own, the hasher too: it hashes while tensors lie in that of `exact`. */
export interface CheckerEngines {
  readonly exact: ExactEngine
  readonly step: StepEngine
  readonly hasher: Pick<TensorHasher, 'root' | 'rootOfOpened'>
}

/** What was committed before a transition and after it. */
export interface TransitionEnds {
  readonly before: Uint8Array
  readonly after: StateMark
}

interface Checking extends CheckerEngines {
  readonly work: Work<WorkKernels>
  readonly plan: RestPlan
  readonly draws: RestDraws
  readonly roots: ReadonlyMap<string, Uint8Array>
}

/** W12.3. Whether a transition leads from one committed state to the other; else what is wrong with it. */
export function checkTransition(
  engines: CheckerEngines,
  work: Work<WorkKernels>,
  plan: RestPlan,
  ends: TransitionEnds,
  said: SaidStep,
  nonce: Uint8Array,
  proof: TransitionProof,
): TransitionProblem | null {
  const areRoots = [said.root, ...said.roots].every((root) => root.length === HASH_BYTES)
  if (said.roots.length !== plan.trees.length || !areRoots) return { code: 'ROOTS_MISSING' }
  const roots = new Map([...work.givenRoots, ...plan.trees.map((name, i) => [name, said.roots[i]!] as const)])
  const problem = checkEnds(work, plan, ends, roots)
  if (problem) return { code: problem }
  const spelled = spellSaid(said, ends)
  const draws = drawRest(work.ops, plan, restSeed(spelled, nonce))
  const reveals = revealsOf(work.ops, plan, draws)
  const { transition } = plan
  const statement = { workId: work.workId, transition, root: said.root, more: concatBytes(spelled, nonce) }
  const products = checkProducts(engines.step, plan.products, statement, reveals, proof.products)
  if (typeof products === 'string') return { code: products }
  return checkRest({ ...engines, work, plan, draws, roots }, rowsShown(plan, reveals, products.revealed), proof.rest)
}

function checkEnds(
  work: Work<WorkKernels>,
  { products: { program } }: RestPlan,
  { before, after }: TransitionEnds,
  roots: ReadonlyMap<string, Uint8Array>,
): TransitionProblem['code'] | null {
  const rootOf = (names: Iterable<string>) => stateRoot([...names].map((name) => roots.get(name)!))
  if (!equalBytes(rootOf(work.state.keys()), before)) return 'STATE_BEFORE_DIFFERS'
  if (!equalBytes(rootOf(program.after), after.root)) return 'STATE_AFTER_DIFFERS'
  return areFigures([program], (_, name) => roots.get(name)!, after.statistics) ? null : 'STATISTICS_DIFFER'
}

type ShownRows = (name: string, row: number, rows: number) => Uint8Array

/** Rows of kept tensors that were shown in the clear. */
function rowsShown({ kept }: RestPlan, reveals: readonly Reveal[], shown: readonly Uint8Array[]): ShownRows {
  return (name, row, rows) => {
    const at = reveals.findIndex((one) => one.name === name && one.row <= row && row + rows <= one.row + one.rows)
    const width = rowBytes(kept.get(name)!.shape)
    const from = (row - reveals[at]!.row) * width
    return shown[at]!.subarray(from, from + rows * width)
  }
}

function checkRest(checking: Checking, shown: ShownRows, bytes: Uint8Array): TransitionProblem | null {
  const { plan, draws, roots, hasher } = checking
  const cursor = new Cursor(bytes)
  const openings: Openings = {
    leaves(name, shape, asked) {
      const found = new Map<number, Uint8Array>()
      for (const leaf of asked) {
        const bytes = cursor.take(leafSpan(shape, leaf).length)
        if (!bytes) return null
        found.set(leaf, bytes)
      }
      const beside = cursor.take(proofBytes(depthOf(leavesOf(shape)), asked))
      const leads = beside && equalBytes(hasher.rootOfOpened(shape, found, beside), roots.get(name)!)
      return leads ? (leaf) => found.get(leaf)! : null
    },
    whole(name, shape) {
      const found = cursor.take(tensorBytes(shape))
      return found && equalBytes(hasher.root(shape, found), roots.get(name)!) ? found : null
    },
  }
  const known = makeKnown(checking, openings)
  if (typeof known === 'string') return { code: known }
  const shared = openShared(plan, draws.sequences, known, openings)
  if (!shared) return { code: 'SHARED_NOT_COMMITTED' }
  const ties = openTies(plan, draws, openings)
  if (!ties) return { code: 'TIE_NOT_COMMITTED' }
  const wrong = checkVectors(checking, known, shared) ?? checkPatches(checking, openings, known, shared, shown)
  if (wrong) return wrong
  if (cursor.left > 0) return { code: 'PROOF_SIZE' }
  return checkSequences(checking, { known, shared: new Map([...shared, ...turnShared(checking, shared)]), ties, shown })
}

/** W12.3.4. Turned copies that sequences read, of what was handed over whole. */
function turnShared({ exact, plan }: Checking, shared: Tensors): Tensors {
  const { steps, shaped } = plan.whole
  return new Map(
    plan.turned.map((at) => {
      const [{ inputs, outputs }, step] = [steps[at]!, shaped[at]!]
      const memory = new TensorMemory(exact)
      memory.write('from', step.inputs[0]!, shared.get(inputs[0]!)!)
      const { rows, width } = step.inputs[0]!
      const to = memory.make('to', step.outputs[0]!)
      exact.kernels.transposeBytes(memory.place('from').at, to.at, rows, width, 0, width)
      return [outputs[0]!, memory.bytes('to').slice()]
    }),
  )
}

/** W12.3.4. What follows from the inputs of the work and from numbers, for all sequences. */
function makeKnown({ exact, work, plan }: Checking, openings: Openings): Tensors | TransitionProblem['code'] {
  const { steps, shaped } = plan.whole
  const memory = new TensorMemory(exact)
  for (const at of plan.known) {
    const { op, inputs, outputs, numbers } = steps[at]!
    const step = shaped[at]!
    if (isLookup(steps[at]!, (name) => work.given.has(name))) {
      const [by, table] = inputs as [string, string]
      const places = words32(memory.bytes(by).slice())
      const rowOf = openRows(openings, table, work.given.get(table)!, [...places])
      if (!rowOf) return 'INPUT_NOT_COMMITTED'
      const bytes = concatBytes(...Array.from(places, rowOf))
      if (outsideFault(step.outputs[0]!.type, bytes)) return 'INPUT_FAULT'
      memory.write(outputs[0]!, step.outputs[0]!, bytes)
      continue
    }
    const places = outputs.map((name, i) => memory.make(name, step.outputs[i]!))
    const call = { inputs: inputs.map((name) => memory.place(name)), outputs: places, numbers }
    if (memory.run(work.ops[op]!, step, call) !== 0) return 'INPUT_FAULT'
  }
  return new Map([...plan.isKnown].map((name) => [name, memory.bytes(name).slice()]))
}

/** W12.3.7. Steps over vectors, whole. */
function checkVectors({ exact, work, plan }: Checking, known: Tensors, shared: Tensors): TransitionProblem | null {
  const { steps, shaped } = plan.whole
  for (const at of plan.overVectors) {
    const { op, inputs, outputs, numbers } = steps[at]!
    const step = shaped[at]!
    const memory = new TensorMemory(exact)
    const bytesOf = (name: string) => known.get(name) ?? shared.get(name)!
    for (const [i, name] of inputs.entries()) memory.write(`${i}`, step.inputs[i]!, bytesOf(name))
    const made = memory.make('made', step.outputs[0]!)
    const call = { inputs: inputs.map((_, i) => memory.place(`${i}`)), outputs: [made], numbers }
    const isRight =
      memory.run(work.ops[op]!, step, call) === 0 && equalBytes(memory.bytes('made'), bytesOf(outputs[0]!))
    if (!isRight) return { code: 'VECTOR_WRONG', step: op, tensor: outputs[0]! }
  }
  return null
}

/** W12.3.7. One patch of every other step that sequences have together. */
function checkPatches(
  { exact, work, plan, draws }: Checking,
  openings: Openings,
  known: Tensors,
  shared: Tensors,
  shown: ShownRows,
): TransitionProblem | null {
  const runPatch = patchRunner(exact, work.ops)
  const held: TakeHeld = (name, { row, rows, column, columns }) => {
    const shape = plan.whole.shapes.get(name)!
    const [width, size] = [rowBytes(shape), ELEMENT_BYTES[shape.type]]
    const all = plan.kept.has(name) ? null : (known.get(name) ?? shared.get(name)!)
    const bytes = all ? all.subarray(row * width, (row + rows) * width) : shown(name, row, rows)
    if (columns === shape.width) return bytes
    const part = (at: number) => bytes.subarray(at * width + column * size, at * width + (column + columns) * size)
    return concatBytes(...Array.from({ length: rows }, (_, at) => part(at)))
  }
  for (const draw of draws.patches) {
    const { op, outputs } = plan.rest.steps[draw.step]!
    const touched = touchPatch(work.ops, plan, draw, openings, held)
    if (!touched) return { code: 'PATCH_NOT_COMMITTED', step: op, tensor: outputs[0]! }
    const made = runPatch(op, touched.patch, plan.rest.shaped[draw.step]!, touched.read)
    if (!made?.every((output, i) => equalBytes(output, touched.written[i]!)))
      return { code: 'PATCH_WRONG', step: op, tensor: outputs[0]! }
  }
  return null
}

/** W12.3.5, W12.3.6. Every drawn sequence alone: operands as they were kept, columns as they were committed. */
function checkSequences(
  { exact, plan, draws }: Checking,
  of: { readonly known: Tensors; readonly shared: Tensors; readonly ties: Tensors; readonly shown: ShownRows },
): TransitionProblem | null {
  for (const sequence of draws.sequences) {
    const ties = draws.ties.filter((tie) => tie.sequence === sequence)
    const rows = new Map(ties.map((tie) => [tie.name, tie.rows]))
    let untied: string | null = null
    const source = {
      kept(name: string) {
        const { row, rows } = rowsOfSequence(plan, name, sequence)
        return of.shown(name, row, rows)
      },
      given(name: string) {
        if (!plan.isKnown.has(name)) return of.shared.get(name)!
        const bytes = of.known.get(name)!
        if (plan.lies.get(name) === 'shared') return bytes
        const each = bytes.length / plan.count
        return bytes.subarray(sequence * each, (sequence + 1) * each)
      },
    }
    const wrong = replaySequence(exact, plan, sequence, source, (name, bytes) => {
      const width = rowBytes(plan.one.shapes.get(name)!)
      const isSame = (row: number) =>
        equalBytes(bytes.subarray(row * width, (row + 1) * width), of.ties.get(tieKey(name, sequence, row))!)
      if (!rows.get(name)!.every(isSame)) untied ??= name
    })
    if (wrong) return { code: 'STEP_WRONG', step: wrong.op, tensor: wrong.tensor, sequence }
    if (untied !== null) return { code: 'COLUMNS_WRONG', tensor: untied, sequence }
  }
  return null
}
