import { withPrefix } from '../../core/units/format.ts'
import { floatOf } from '../../core/work/ops/shapes.ts'
import type { StateMark } from '../../core/work/stateChain.ts'
import type { Work } from '../../core/work/work.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { labelled } from '../render/labelled.ts'

/** What a work's first figure is called, and what it was after the first segment and after the last. */
interface Course {
  readonly name: string
  readonly first: number
  readonly last: number
  /** Whether the work was run again here: else they are what whoever worked says. */
  readonly isShown: boolean
}

/**
 * Null of a kind without figures, or whose transitions do not build on each other: they have no course. No state depends on
 * a loss or a mass, and openings show one row of many that it is the sum of (attack 444): only a replay shows it.
 */
export function courseOf(
  { figures: [name], isIndependent }: Pick<Work<WorkKernels>, 'figures' | 'isIndependent'>,
  marks: readonly Pick<StateMark, 'statistics'>[],
  isReplayed: boolean,
): Course | null {
  const [first, last] = [marks[0], marks.at(-1)].map((mark) => mark?.statistics[0])
  if (name === undefined || isIndependent || first === undefined || last === undefined) return null
  return { name, first: floatOf(first), last: floatOf(last), isShown: isReplayed }
}

/** The same for a script. */
export const courseJson = (course: Course | null) =>
  course && {
    [course.name]: {
      ...{ first: course.first, last: course.last },
      shown: { first: course.isShown, last: course.isShown },
    },
  }

/** W4.7.6. Where nobody ran it again it is told, and not shown. */
export function courseLines(course: Course | null): string[] {
  if (!course) return []
  const how = course.isShown ? 'shown' : 'told'
  const ends = (['first', 'last'] as const).map((end) => `${shortNumber(course[end])} ${end} (${how})`)
  return labelled(course.name, ends.join(', '))
}

export const shortNumber = (value: number): string =>
  Math.abs(value) < 1000 ? value.toFixed(4) : withPrefix(value).trim()
