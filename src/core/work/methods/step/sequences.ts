import type { Numbers, ShapedStep } from '../../op.ts'
import type { ShapedProgram, Step } from '../../program.ts'
import { requireThat } from '../../refusals.ts'
import type { TensorShape } from '../../tensor.ts'

/**
 * W12.3.1. How a tensor of a whole transition lies beside that of one sequence alone. `rows`: the rows of the sequences one
 * after the other; `columns`: their columns side by side; `shared`: the sequences have it together.
 */
export type Lie = 'rows' | 'columns' | 'shared'

/** A transition of several sequences beside the same of one. */
export interface Sequences {
  readonly count: number
  readonly whole: ShapedProgram
  /** Steps have the names of those of the whole, and its numbers but for sizes. */
  readonly one: ShapedProgram
  readonly lies: ReadonlyMap<string, Lie>
}

/** Numbers that are sizes: the whole has `count` times as much. */
const SIZES = new Set(['batch', 'rows', 'width', 'count'])

function numbersOfOne(whole: Numbers, one: Numbers, count: number, at: number): Numbers {
  const names = Object.keys(whole)
  requireThat(names.length === Object.keys(one).length, 'BAD_SHAPE', `step ${at} has other numbers for one sequence`)
  return Object.fromEntries(
    names.map((name) => {
      const [all, alone] = [whole[name]!, one[name]]
      if (!SIZES.has(name) || all === alone) return [name, all]
      requireThat(alone !== undefined && all === count * alone, 'BAD_SHAPE', `step ${at}: ${name} for one sequence`)
      return [name, alone]
    }),
  )
}

function lieOf(name: string, whole: TensorShape, one: TensorShape, count: number): Lie {
  const isSame = whole.rows === one.rows && whole.width === one.width
  if (isSame) return 'shared'
  if (whole.width === one.width && whole.rows === count * one.rows) return 'rows'
  requireThat(
    whole.rows === one.rows && whole.width === count * one.width,
    'BAD_SHAPE',
    `${name} does not lie by sequences`,
  )
  return 'columns'
}

/** W12.3.2. Ops whose rows of a sequence follow from rows of that sequence, and from what all have together. */
const BY_ROWS = new Set([
  ...['add', 'scale', 'gelu', 'geluBackward', 'relu', 'reluBackward'],
  ...['siluProduct', 'siluProductBackwardGate', 'siluProductBackwardUp'],
  ...['rowMean', 'normInverse', 'norm', 'normBackward', 'normGainTerms', 'rowMaximum', 'exponentialSum'],
  ...['exponential', 'exponentialBackward', 'rowDot', 'divideRows', 'crossEntropy', 'crossEntropyBackward', 'rowSum'],
  ...['rowScale', 'quantise', 'dequantise', 'product', 'productPieces'],
  ...['transpose', 'reshape', 'splitHeads', 'joinHeads', 'cut', 'embed', 'rotary', 'places', 'windowOrder'],
])

/** A product or a turn is of each sequence alone where there are as many times more of them. */
const IN_BATCHES = new Set(['product', 'productPieces', 'transpose'])

/** Every row of a meets the same b. */
const isOfRows = ({ batch = 1, shared = 1, mask = 0, row, rows }: Numbers): boolean =>
  batch === 1 && shared === 1 && mask === 0 && row === undefined && rows === undefined

function actsByRows({ op, numbers }: Step, of: Step, one: ShapedStep, inputs: readonly Lie[], count: number): boolean {
  if (!BY_ROWS.has(op) || inputs.includes('columns')) return false
  const { rows } = one.outputs[0]!
  const { period = rows, rowsEach = rows } = of.numbers
  if (rows % period !== 0 || (numbers.rowsEach !== undefined && rows % rowsEach !== 0)) return false
  if (!IN_BATCHES.has(op)) return true
  if (op === 'product' && inputs[0] === 'rows' && inputs[1] === 'shared') return isOfRows(numbers)
  return !inputs.includes('shared') && (numbers.batch ?? 1) === count * (of.numbers.batch ?? 1)
}

/** W12.3.2. Ops whose columns of a sequence follow from that sequence: copies that are turned, and their rounding. */
function actsByColumns({ op, numbers }: Step, one: ShapedStep, inputs: readonly Lie[]): boolean {
  if (op === 'transpose') return (numbers.batch ?? 1) === 1 && inputs[0] === 'rows'
  if (op === 'reshape') return one.outputs[0]!.rows === 1 && one.inputs[0]!.width === 1 && inputs[0] === 'rows'
  if (op !== 'quantise' || numbers.rowsEach !== undefined || one.inputs[1]!.width !== 1) return false
  const [x, scales, fold = 'columns'] = inputs
  return x === 'columns' && scales === 'shared' && fold === 'columns'
}

/**
 * W12.3.1. Lays a transition beside the same for one sequence. Throws a WorkRefusal where a step of it mixes sequences in
 * another way than by sums; steps in `proven` may do what they like.
 */
export function sequencesOf(
  whole: ShapedProgram,
  alone: ShapedProgram,
  count: number,
  proven: ReadonlySet<number>,
): Sequences {
  const isAlike = (step: Step, at: number): boolean => {
    const other = alone.steps[at]!
    const isSame = (names: readonly string[], others: readonly string[]) =>
      names.length === others.length && names.every((name, i) => name === others[i])
    return step.op === other.op && isSame(step.inputs, other.inputs) && isSame(step.outputs, other.outputs)
  }
  const isSame = whole.steps.length === alone.steps.length && whole.steps.every(isAlike)
  requireThat(isSame && count > 1, 'BAD_SHAPE', 'one sequence alone takes other steps')
  const steps = whole.steps.map((step, at) => ({
    ...step,
    numbers: numbersOfOne(step.numbers, alone.steps[at]!.numbers, count, at),
  }))
  const one = withNumbers(alone, steps)
  const lies = new Map([...whole.shapes].map(([name, of]) => [name, lieOf(name, of, one.shapes.get(name)!, count)]))
  for (const [at, step] of whole.steps.entries()) {
    const [lie, inputs] = [lies.get(step.outputs[0]!)!, step.inputs.map((name) => lies.get(name)!)]
    const shaped = one.shaped[at]!
    const acts =
      lie === 'shared' ||
      proven.has(at) ||
      (lie === 'rows' ? actsByRows(step, one.steps[at]!, shaped, inputs, count) : actsByColumns(step, shaped, inputs))
    requireThat(acts && step.outputs.length === 1, 'BAD_SHAPE', `step ${at} (${step.op}) is not of one sequence`)
  }
  return { count, whole, one, lies }
}

const withNumbers = (program: ShapedProgram, steps: readonly Step[]): ShapedProgram => ({
  ...program,
  steps,
  shaped: program.shaped.map((of, at) => ({ ...of, numbers: steps[at]!.numbers })),
})

/** The same for a transition that takes the same steps over the same shapes, whose numbers are others. */
export function renumbered({ count, one, lies }: Sequences, whole: ShapedProgram): Sequences {
  const steps = whole.steps.map((step, at) => {
    const numbers: Record<string, number> = { ...step.numbers }
    const { numbers: alone } = one.steps[at]!
    for (const name of SIZES) if (alone[name] !== undefined) numbers[name] = alone[name]
    return { ...step, numbers }
  })
  return { count, whole, one: withNumbers(one, steps), lies }
}
