import type { EngineRun } from '../../src/core/work/engineRun.ts'
import type { StateMark } from '../../src/core/work/stateChain.ts'
import type { Work } from '../../src/core/work/work.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'

/** Does a work from its beginning to its end, and keeps the first state and those after the segments that are named. */
export function runWhole(
  { ends }: Work<WorkKernels>,
  run: EngineRun<WorkKernels>,
  isKept: (segment: number) => boolean = () => true,
): { readonly firstRoot: Uint8Array; readonly marks: readonly StateMark[] } {
  const { root: firstRoot } = run.advance(-1)
  run.keep(-1)
  const marks = ends.map((_, segment) => {
    const mark = run.advance(segment)
    if (isKept(segment)) run.keep(segment)
    return mark
  })
  return { firstRoot, marks }
}
