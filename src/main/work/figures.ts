import { withPrefix } from '../../core/units/format.ts'
import { floatOf } from '../../core/work/ops/shapes.ts'
import type { StateMark } from '../../core/work/stateChain.ts'
import type { Work } from '../../core/work/work.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'

/** What a work's first figure is called, and what it was after the first segment and after the last. */
interface FirstAndLast {
  readonly name: string
  readonly first: number
  readonly last: number
}

/** Null of a kind without figures, or whose transitions do not build on each other: they have no course. */
export function firstAndLast(
  { figures: [name], isIndependent }: Pick<Work<WorkKernels>, 'figures' | 'isIndependent'>,
  marks: readonly Pick<StateMark, 'statistics'>[],
): FirstAndLast | null {
  const [first, last] = [marks[0]?.statistics[0], marks.at(-1)?.statistics[0]]
  if (name === undefined || isIndependent || first === undefined || last === undefined) return null
  return { name, first: floatOf(first), last: floatOf(last) }
}

export const shortNumber = (value: number): string =>
  Math.abs(value) < 1000 ? value.toFixed(4) : withPrefix(value).trim()
