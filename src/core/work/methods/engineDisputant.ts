import type { EngineRun } from '../engineRun.ts'
import { linksOf, type StateMark } from '../stateChain.ts'
import { leafSpan } from '../tensor.ts'
import { tensorLevels } from '../tensorTree.ts'
import { segmentPrograms, type Work } from '../work.ts'
import type { Disputant, OutputAt } from './dispute.ts'

/** A side of a dispute that answers by running the segment again. The states before it were kept. */
export function engineDisputant<K>(
  work: Work<K>,
  run: EngineRun<K>,
  firstRoot: Uint8Array,
  marks: readonly StateMark[],
): Disputant {
  const links = linksOf(work.workId, firstRoot, marks)
  const shapeOf = (segment: number, { transition, step, output }: OutputAt) =>
    segmentPrograms(work, segment)[transition]!.shaped[step]!.outputs[output]!
  return {
    link: async (segments) => links[segments] ?? null,
    mark: async (segments) =>
      segments === 0 ? { transition: 0, root: firstRoot, statistics: [] } : (marks[segments - 1] ?? null),
    trace: async (segment) => run.trace(segment),
    nodes: async (segment, at, level, from, count) => {
      const levels = tensorLevels(shapeOf(segment, at), run.outputOf(segment, at, at.output))
      return levels[level]?.slice(from, from + count) ?? null
    },
    leaf: async (segment, at, leaf) => {
      const { start, length } = leafSpan(shapeOf(segment, at), leaf)
      return run.outputOf(segment, at, at.output).slice(start, start + length)
    },
    patch: async (segment, draw) => run.open(segment, [draw])[0] ?? null,
  }
}
