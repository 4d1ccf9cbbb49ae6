import type { PatchDraw } from '../draws.ts'
import type { Traceable } from '../proveWork.ts'
import { linksOf, type StateMark } from '../stateChain.ts'
import { leafSpan, type TensorShape } from '../tensor.ts'
import { tensorLevels } from '../tensorTree.ts'
import { segmentPrograms, type Work } from '../work.ts'
import type { Disputant, OutputAt } from './dispute.ts'

/** What a side of a dispute runs segments again with: an engine, or a device. */
export interface Rerun extends Traceable {
  outputOf(segment: number, at: Omit<PatchDraw, 'patch'>, output: number): Promise<Uint8Array> | Uint8Array
}

/** One output that is being searched: its bytes, and all levels of its tree. */
interface Searched {
  readonly name: string
  readonly shape: TensorShape
  readonly bytes: Uint8Array
  readonly levels: readonly (readonly Uint8Array[])[]
}

/** A side of a dispute that answers by running the segment again. The states before it were kept. */
export function engineDisputant<K>(
  work: Work<K>,
  run: Rerun,
  firstRoot: Uint8Array,
  marks: readonly StateMark[],
): Disputant {
  const links = linksOf(work.workId, firstRoot, marks)
  let searched: Searched | null = null
  /** Questions go down one tree: it is made once. */
  const search = async (segment: number, at: OutputAt): Promise<Searched> => {
    const name = [segment, at.transition, at.step, at.output].join()
    if (searched?.name === name) return searched
    const shape = segmentPrograms(work, segment)[at.transition]!.shaped[at.step]!.outputs[at.output]!
    const bytes = await run.outputOf(segment, at, at.output)
    searched = { name, shape, bytes, levels: tensorLevels(shape, bytes) }
    return searched
  }
  return {
    link: async (segments) => links[segments] ?? null,
    mark: async (segments) =>
      segments === 0 ? { transition: 0, root: firstRoot, statistics: [] } : (marks[segments - 1] ?? null),
    trace: async (segment) => await run.trace(segment),
    nodes: async (segment, at, level, from, count) => {
      const { levels } = await search(segment, at)
      return levels[level]?.slice(from, from + count) ?? null
    },
    leaf: async (segment, at, leaf) => {
      const { shape, bytes } = await search(segment, at)
      const { start, length } = leafSpan(shape, leaf)
      return bytes.slice(start, start + length)
    },
    patch: async (segment, draw) => (await run.open(segment, [draw]))[0] ?? null,
  }
}
