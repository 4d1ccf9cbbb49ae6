import { withPrefix } from '../../core/units/format.ts'
import { floatOf } from '../../core/work/ops/shapes.ts'
import type { StateMark } from '../../core/work/stateChain.ts'
import type { Work } from '../../core/work/work.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { labelled } from '../render/labelled.ts'

/** A figure, and whether its segment was looked at: else it is what whoever worked says. */
interface Figure {
  readonly value: number
  readonly isShown: boolean
}

/** What a work's first figure is called, and what it was after the first segment and after the last. */
interface Course {
  readonly name: string
  readonly first: Figure
  readonly last: Figure
}

/** Null of a kind without figures, or whose transitions do not build on each other: they have no course. */
export function courseOf(
  { figures: [name], isIndependent }: Pick<Work<WorkKernels>, 'figures' | 'isIndependent'>,
  marks: readonly Pick<StateMark, 'statistics'>[],
  isShown: (segment: number) => boolean,
): Course | null {
  const [first, last] = [0, marks.length - 1].map((segment) => {
    const bits = marks[segment]?.statistics[0]
    return bits === undefined ? null : { value: floatOf(bits), isShown: isShown(segment) }
  })
  return name === undefined || isIndependent || !first || !last ? null : { name, first, last }
}

/** The same for a script. */
export const courseJson = (course: Course | null) =>
  course && {
    [course.name]: {
      ...{ first: course.first.value, last: course.last.value },
      shown: { first: course.first.isShown, last: course.last.isShown },
    },
  }

/** W4.7.6. Where nobody looked it is told, and not shown. */
export function courseLines(course: Course | null): string[] {
  if (!course) return []
  const ends = (['first', 'last'] as const).map((end) => {
    const { value, isShown } = course[end]
    return `${shortNumber(value)} ${end} (${isShown ? 'shown' : 'told'})`
  })
  return labelled(course.name, ends.join(', '))
}

export const shortNumber = (value: number): string =>
  Math.abs(value) < 1000 ? value.toFixed(4) : withPrefix(value).trim()
