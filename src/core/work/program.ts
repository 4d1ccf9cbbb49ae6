import type { Numbers, Op, ShapedStep } from './op.ts'
import { requireThat } from './refusals.ts'
import { type TensorShape, tensorBytes } from './tensor.ts'

/** W3.4. One op over named tensors. */
export interface Step {
  readonly op: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly numbers: Numbers
  /** Everything passes through it: it is always drawn. */
  readonly isChoke?: boolean
  /** W3.8. The part of the batch it belongs to, where the specification divides it; none after the parts are joined. */
  readonly shard?: number
  /** W4.5. Of its operations, what the next state depends on; all of them where it is left out. */
  readonly needed?: Needed
}

/** Shares of operations: those that are always needed, and those for sequences of which the transition asks something. */
export interface Needed {
  readonly always: number
  readonly asked: number
}

/** W4.5. Of a figure: it is told, and no state depends on it. */
export const TOLD: Needed = { always: 0, asked: 0 }

/** W3.6. A transition that stands for others: for how many, and for how many in what it asks of all sequences (W4.5). */
export type Counted = readonly [transition: number, times: number, asked?: number]

/** What a transition does: from tensors that are there (state, given inputs) to those of the next state. */
export interface Program {
  /** Tensors that are there before the first step, with their shapes. */
  readonly there: ReadonlyMap<string, TensorShape>
  readonly steps: readonly Step[]
  /** The next state, in the order of its root. */
  readonly after: readonly string[]
  /** Figures of the transition, words all: loss, norm, tokens. They go into the chain as bits. */
  readonly statistics: readonly string[]
}

/** A program whose shapes fit; `shapes` has every tensor, `shaped` every step. */
export interface ShapedProgram extends Program {
  readonly shapes: ReadonlyMap<string, TensorShape>
  readonly shaped: readonly ShapedStep[]
}

export type Ops<K> = Readonly<Record<string, Op<K>>>

/** No tensor is larger than this: offsets stay whole numbers, and absurd sizes are refused before anything is made. */
export const MAX_TENSOR_BYTES = 2 ** 40
const MAX_STEPS = 100_000

/** Numbers that differ from transition to transition, and that no shape follows from. */
const PASSING = new Set(['transition', 'rate', 'correction1', 'correction2', 'epoch', 'first'])

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, i) => name === b[i])

function sameButPassing(a: Numbers, b: Numbers): boolean {
  let left = 0
  for (const name in a) {
    if (a[name] !== b[name] && !(PASSING.has(name) && b[name] !== undefined)) return false
    left++
  }
  for (const _ in b) left--
  return left === 0
}

/** Whether every shape of a program is that of another. */
function hasShapesOf(program: Program, { there, steps, after, statistics }: Program): boolean {
  if (program.steps.length !== steps.length || program.there.size !== there.size) return false
  for (const [name, { type, rows, width }] of program.there) {
    const other = there.get(name)
    if (other?.type !== type || other.rows !== rows || other.width !== width) return false
  }
  const isSame = (step: Step, at: number): boolean => {
    const other = steps[at]!
    const areSame = sameNames(step.inputs, other.inputs) && sameNames(step.outputs, other.outputs)
    return step.op === other.op && areSame && sameButPassing(step.numbers, other.numbers)
  }
  return program.steps.every(isSame) && sameNames(program.after, after) && sameNames(program.statistics, statistics)
}

/**
 * Works out every shape. Throws a WorkRefusal on the first step that does not fit. A program like the one before has its
 * very `shapes`, which tells whoever planned that one.
 */
export function shapeProgram<K>(ops: Ops<K>, program: Program, before: ShapedProgram | null = null): ShapedProgram {
  if (before && hasShapesOf(program, before)) {
    const shaped = program.steps.map(({ numbers }, at) => ({ ...before.shaped[at]!, numbers }))
    return { ...program, shapes: before.shapes, shaped }
  }
  requireThat(program.steps.length <= MAX_STEPS, 'TOO_BIG', `${program.steps.length} steps`)
  const shapes = new Map(program.there)
  const shaped = program.steps.map(({ op, inputs, outputs, numbers }, at) => {
    const of = inputs.map((name) => shapes.get(name))
    requireThat(Object.hasOwn(ops, op), 'BAD_SHAPE', `step ${at}: no op is called ${op}`)
    requireThat(
      of.every((shape) => shape !== undefined),
      'BAD_SHAPE',
      `step ${at}: ${op} reads a tensor that is not there`,
    )
    const step = { inputs: of as TensorShape[], numbers }
    const made = ops[op]!.outputs(step.inputs, numbers)
    requireThat(made.length === outputs.length, 'BAD_SHAPE', `step ${at}: ${op} writes ${made.length} tensors`)
    for (const [i, name] of outputs.entries()) {
      const shape = made[i]!
      requireThat(!shapes.has(name), 'BAD_SHAPE', `step ${at}: ${name} is written twice`)
      requireThat(isSane(shape), 'TOO_BIG', `step ${at}: ${name} would be ${shape.rows} by ${shape.width}`)
      shapes.set(name, shape)
    }
    return { ...step, outputs: made }
  })
  for (const name of [...program.after, ...program.statistics])
    requireThat(shapes.has(name), 'BAD_SHAPE', `${name} is never written`)
  return { ...program, shapes, shaped }
}

const isSane = (shape: TensorShape): boolean =>
  [shape.rows, shape.width].every((size) => Number.isSafeInteger(size) && size > 0) &&
  tensorBytes(shape) <= MAX_TENSOR_BYTES

/** Operations of a whole program, by the definition of its steps. */
export const operationsOf = <K>(ops: Ops<K>, { steps, shaped }: ShapedProgram): number =>
  steps.reduce((sum, { op }, at) => sum + ops[op]!.operations(shaped[at]!), 0)

/** W4.5. Those of them that a state depends on, so many times: whoever works may leave out the others. */
export const neededOf = <K>(ops: Ops<K>, { steps, shaped }: ShapedProgram, times = 1, asked = times): number =>
  steps.reduce((sum, { op, needed = ALL }, at) => {
    return sum + (needed.always * times + needed.asked * asked) * ops[op]!.operations(shaped[at]!)
  }, 0)

const ALL: Needed = { always: 1, asked: 0 }

/** For each step, the tensors that nothing reads afterwards: their memory is free. */
export function lastUses({ steps, after, statistics, there }: Program): readonly (readonly string[])[] {
  const kept = new Set([...after, ...statistics, ...there.keys()])
  const last = new Map<string, number>()
  for (const [at, { inputs, outputs }] of steps.entries())
    for (const name of [...inputs, ...outputs]) last.set(name, at)
  const free: string[][] = steps.map(() => [])
  for (const [name, at] of last) if (!kept.has(name)) free[at]!.push(name)
  return free
}
