import type { Ops, ShapedProgram, Step } from '../../program.ts'
import { requireThat } from '../../refusals.ts'
import type { TensorShape } from '../../tensor.ts'
import type { Work } from '../../work.ts'
import { isTurn, type Kept, planStep, provenProgram, type StepPlan } from './plan.ts'
import { type Lie, renumbered, type Sequences, sequencesOf } from './sequences.ts'
import { requireSure } from './stepProof.ts'

/** W12.3. Who shows what of a transition besides its products. */
export interface RestPlan extends Sequences {
  /** Whose transition it is, and what is proven of it. */
  readonly of: object
  readonly wanted: ProvenProducts
  readonly transition: number
  readonly products: StepPlan
  /** Kept tensors by name. */
  readonly kept: ReadonlyMap<string, Kept & { readonly at: number }>
  /** Steps whose outputs follow from what is given and from numbers: whoever checks makes them. */
  readonly known: readonly number[]
  /** Tensors that these make. */
  readonly isKnown: ReadonlySet<string>
  /** Steps that are run again for a drawn sequence. */
  readonly replayed: readonly number[]
  /** Steps whose outputs sequences have together, but for products: over vectors alone, run again whole. */
  readonly overVectors: readonly number[]
  /** The others of these: shown by patches. */
  readonly patched: readonly number[]
  readonly rest: ShapedProgram
  /** Tensors with a tree: the state first, then in the order of the steps. */
  readonly trees: readonly string[]
  /** Of these, the ones whose columns belong to sequences: tied to what a replay makes. */
  readonly tied: readonly string[]
  /** Shared tensors that are handed over whole: those of one row or one column, and those that a replay reads all of. */
  readonly vectors: ReadonlySet<string>
  /** Turned copies of these that a replay reads: whoever checks makes them. */
  readonly turned: readonly number[]
  /** Tables of which a replay looks up rows. */
  readonly tables: readonly Table[]
}

/** W12.2.1. Products that are proven: all, or those whose result sequences have together. */
export type ProvenProducts = 'all' | 'shared'

/** A table whose rows are looked up by a tensor that is known. */
export interface Table {
  readonly name: string
  readonly by: string
}

interface Makings {
  readonly program: ShapedProgram
  readonly lies: ReadonlyMap<string, Lie>
  readonly proven: ReadonlySet<number>
  readonly isKnown: ReadonlySet<string>
}

/** Rows that are looked up in a tensor that was handed in are opened under its root. */
export const isLookup = ({ op, inputs }: Step, isGiven: (name: string) => boolean): boolean =>
  op === 'embed' && inputs.length === 2 && isGiven(inputs[1]!)

function knownSteps(
  { whole: { steps }, lies }: Sequences,
  given: ReadonlySet<string>,
  proven: ReadonlySet<number>,
): { readonly known: readonly number[]; readonly isKnown: ReadonlySet<string> } {
  const isKnown = new Set<string>()
  const isThere = (name: string) => given.has(name)
  const known = [...steps.keys()].filter((at) => {
    const step = steps[at]!
    const isMade = step.inputs.every((name) => isKnown.has(name))
    if (proven.has(at) || lies.get(step.outputs[0]!) === 'columns') return false
    if (!(isMade || (isKnown.has(step.inputs[0]!) && isLookup(step, isThere)))) return false
    for (const name of step.outputs) isKnown.add(name)
    return true
  })
  return { known, isKnown }
}

/** The steps that lead to some tensors, but for those that others answer for. */
function stepsTo({ program: { steps }, lies, proven, isKnown }: Makings, targets: Iterable<string>): readonly number[] {
  const needed = new Set(targets)
  const found: number[] = []
  for (let at = steps.length - 1; at >= 0; at--) {
    const { inputs, outputs } = steps[at]!
    const name = outputs[0]!
    if (!needed.has(name) || proven.has(at) || isKnown.has(name) || lies.get(name) === 'shared') continue
    found.push(at)
    for (const input of inputs) needed.add(input)
  }
  return found.reverse()
}

/** Shared steps that are no product, and no turned copy of which products alone know. */
function patchedSteps({ program: { steps, after }, lies, proven, isKnown }: Makings): readonly number[] {
  const isProduct = (at: number) => proven.has(at) || steps[at]!.op === 'product'
  const read = new Set([...steps.flatMap(({ inputs }, at) => (isProduct(at) ? [] : inputs)), ...after])
  return [...steps.keys()].filter((at) => {
    const { op, outputs } = steps[at]!
    const name = outputs[0]!
    if (proven.has(at) || isKnown.has(name) || lies.get(name) !== 'shared') return false
    return op !== 'transpose' || read.has(name)
  })
}

function readByReplay({ program: { steps }, lies, isKnown }: Makings, replayed: readonly number[]) {
  const vectors = new Set<string>()
  const turned = new Set<number>()
  const tables = new Map<string, Table>()
  const makers = new Map(steps.map(({ outputs }, at) => [outputs[0]!, at]))
  for (const at of replayed) {
    const { op, inputs } = steps[at]!
    for (const [i, name] of inputs.entries()) {
      if (lies.get(name) !== 'shared' || isKnown.has(name)) continue
      const maker = makers.get(name) ?? Number.NaN
      if (op === 'product' && isTurn(steps[maker])) {
        turned.add(maker)
        vectors.add(steps[maker].inputs[0]!)
      } else if (op !== 'embed') vectors.add(name)
      else {
        requireThat(isKnown.has(inputs[i - 1]!), 'BAD_SHAPE', `${name} is looked up by what nobody knows`)
        tables.set(`${name} ${inputs[i - 1]}`, { name, by: inputs[i - 1]! })
      }
    }
  }
  return { vectors: [...vectors], turned: [...turned], tables: [...tables.values()] }
}

/** Steps of a program by their numbers, as a program. */
const stepsAt = (program: ShapedProgram, places: readonly number[]): ShapedProgram => ({
  ...program,
  steps: places.map((at) => program.steps[at]!),
  shaped: places.map((at) => program.shaped[at]!),
})

/**
 * W12.3. The whole of it; throws a WorkRefusal where a transition cannot be shown this way. Where the one of a plan before
 * takes the same steps over the same shapes, all of that plan but numbers is this one's.
 */
export function planRest<K>(
  ops: Ops<K>,
  work: Work<K>,
  transition: number,
  wanted: ProvenProducts = 'all',
  before: RestPlan | null = null,
): RestPlan {
  if (before?.of !== work || before.wanted !== wanted) return planFirst(ops, work, transition, wanted)
  const whole = provenProgram(ops, work.transition(transition), before.whole)
  if (whole.shapes !== before.whole.shapes) return planFirst(ops, work, transition, wanted)
  const products = { ...before.products, program: whole }
  return { ...before, ...renumbered(before, whole), transition, products, rest: stepsAt(whole, before.patched) }
}

function planFirst<K>(ops: Ops<K>, work: Work<K>, transition: number, wanted: ProvenProducts): RestPlan {
  const alone = work.alone(transition)
  requireThat(alone !== null, 'BAD_SHAPE', 'a transition without several sequences, or in shards, is not replayed')
  const one = provenProgram(ops, alone.program)
  const isWanted = (result: string, { rows, width }: TensorShape) => {
    const other = one.shapes.get(result)
    return wanted === 'all' || (other?.rows === rows && other.width === width)
  }
  const products = planStep(ops, work.transition(transition), isWanted)
  requireSure(products)
  const { program } = products
  const proven = new Set(products.products.map(({ step }) => step))
  const sequences = sequencesOf(program, one, alone.sequences, proven)
  const { lies } = sequences
  const { known, isKnown } = knownSteps(sequences, new Set(work.given.keys()), proven)
  const makings = { program, lies, proven, isKnown }
  const kept = new Map(products.kept.map((one, at) => [one.name, { ...one, at }]))
  const inPart = patchedSteps(makings)
  const touched = new Set<string>([...work.state.keys(), ...program.after, ...program.statistics])
  for (const name of inPart.flatMap((at) => [...program.steps[at]!.inputs, ...program.steps[at]!.outputs])) {
    const isPlain = lies.get(name) === 'shared' && !kept.get(name)?.isTurned
    requireThat(!kept.has(name) || isPlain, 'BAD_SHAPE', `${name} is read by a step that is not of one sequence`)
    if (!kept.has(name) && !isKnown.has(name)) touched.add(name)
  }
  const made = program.steps.flatMap(({ outputs }) => outputs)
  const trees = [...work.state.keys(), ...made].filter((name) => touched.has(name))
  requireThat(
    trees.length === touched.size,
    'BAD_SHAPE',
    'a step reads an input of the work in another way than by rows',
  )
  const stray = trees.find((name) => lies.get(name) === 'rows')
  requireThat(stray === undefined, 'BAD_SHAPE', `${stray} is read by a step that is not of one sequence`)
  const tied = trees.filter((name) => lies.get(name) === 'columns')
  const ofSequences = [...kept.keys()].filter((name) => lies.get(name) !== 'shared')
  const replayed = stepsTo(makings, [...ofSequences, ...tied])
  const read = readByReplay(makings, replayed)
  const isTree = new Set(trees)
  const missing = [...read.vectors, ...read.tables.map(({ name }) => name)].find((name) => !isTree.has(name))
  requireThat(missing === undefined, 'BAD_SHAPE', `a replay would need all of ${missing}`)
  const isWhole = new Set(read.vectors)
  for (const name of trees) {
    const { rows, width } = program.shapes.get(name)!
    if (lies.get(name) === 'shared' && (rows === 1 || width === 1)) isWhole.add(name)
  }
  const isOverVectors = (at: number): boolean => {
    const { inputs, outputs } = program.steps[at]!
    return [...inputs, ...outputs].every((name) => isWhole.has(name) || isKnown.has(name))
  }
  const overVectors = inPart.filter(isOverVectors)
  const patched = inPart.filter((at) => !isOverVectors(at))
  const vectors = new Set(trees.filter((name) => isWhole.has(name)))
  const sorted = {
    known,
    isKnown,
    replayed,
    overVectors,
    patched,
    rest: stepsAt(program, patched),
    trees,
    tied,
    vectors,
  }
  const { turned, tables } = read
  return { of: work, wanted, ...sequences, transition, products, kept, ...sorted, turned, tables }
}
