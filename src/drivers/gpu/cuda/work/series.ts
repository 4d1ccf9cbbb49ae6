import type { Numbers } from '../../../../core/work/op.ts'
import type { ShapedProgram } from '../../../../core/work/program.ts'
import type { TensorShape } from '../../../../core/work/tensor.ts'
import type { Action } from './plan.ts'

/** A program, how it is run, and how many transitions after the planned one it is run. */
export interface Plan {
  readonly program: ShapedProgram
  readonly actions: readonly Action[]
  /** By how much the numbers of each step move on in a transition; null where it is the planned one itself. */
  readonly rates: readonly Numbers[] | null
  readonly shift: number
}

/** Numbers of a step so many transitions later. */
export const moved = (numbers: Numbers, rates: Numbers, shift: number): Numbers =>
  Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, value + shift * (rates[name] ?? 0)]))

/** By how much numbers move on from a program to the one after it; null where more than numbers is another. */
export function ratesOf(first: ShapedProgram, second: ShapedProgram): readonly Numbers[] | null {
  const isSame = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((x, i) => x === b[i])
  if (first.steps.length !== second.steps.length || !isSame(first.after, second.after)) return null
  const rates = first.steps.map(({ op, inputs, outputs, numbers }, at) => {
    const then = second.steps[at]!
    const isAlike = op === then.op && isSame(inputs, then.inputs) && isSame(outputs, then.outputs)
    const names = Object.keys(numbers)
    if (!isAlike || !isSame(names, Object.keys(then.numbers))) return null
    return Object.fromEntries(names.map((name) => [name, then.numbers[name]! - numbers[name]!]))
  })
  return rates.includes(null) ? null : (rates as Numbers[])
}

const isStill = (rates: Numbers): boolean => Object.values(rates).every((rate) => rate === 0)
const areAlike = (a: TensorShape, b: TensorShape): boolean =>
  a.type === b.type && a.rows === b.rows && a.width === b.width

/**
 * How far the plan of a program serves the transitions after it: what is made must be as large, and what several steps are
 * run as must say that it knows of numbers that move.
 */
export function reachOf(
  { program, actions }: Pick<Plan, 'program' | 'actions'>,
  second: ShapedProgram,
  rates: readonly Numbers[],
): number {
  const reaches = actions.map(({ fused, outputs }) => {
    const areMade = outputs.every((name) => areAlike(program.shapes.get(name)!, second.shapes.get(name)!))
    if (!areMade) return 0
    if (!fused) return Number.POSITIVE_INFINITY
    const parts = (fused.parts ?? [fused]).filter(({ covers }) => !covers.every(({ at }) => isStill(rates[at]!)))
    return Math.min(...parts.map(({ mostShift = 0 }) => mostShift))
  })
  return Math.min(...reaches)
}
