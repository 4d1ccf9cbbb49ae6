import { HASH_BYTES } from '../../proof/merkle.ts'
import type { PatchDraw } from '../draws.ts'
import type { TensorHasher } from '../engineRun.ts'
import type { Traceable } from '../proveWork.ts'
import { linksOf, type StateMark } from '../stateChain.ts'
import { leafSpan, leavesOf, type TensorShape } from '../tensor.ts'
import { depthOf, levelStart, levelsOver } from '../tensorTree.ts'
import { segmentPrograms, type Work } from '../work.ts'
import type { Disputant, OutputAt } from './dispute.ts'

/** What a side of a dispute runs segments again with: an engine, or a device. */
export interface Rerun extends Traceable {
  outputOf(segment: number, at: Omit<PatchDraw, 'patch'>, output: number): Promise<Uint8Array> | Uint8Array
}

type Nodes = (level: number, from: number, count: number) => readonly Uint8Array[]

/** One output that is being searched. */
interface Searched {
  readonly name: string
  readonly shape: TensorShape
  readonly bytes: Uint8Array
  readonly nodes: Nodes
}

/** A side of a dispute that answers by running the segment again. The states before it were kept. */
export function engineDisputant<K>(
  work: Work<K>,
  run: Rerun,
  openHasher: () => Promise<TensorHasher>,
  firstRoot: Uint8Array,
  marks: readonly StateMark[],
): Disputant {
  const links = linksOf(work.workId, firstRoot, marks)
  let hasher: TensorHasher | null = null
  let searched: Searched | null = null
  /** Questions go down one tree: it is made once. */
  const search = async (segment: number, at: OutputAt): Promise<Searched> => {
    const name = [segment, at.transition, at.step, at.output].join()
    if (searched?.name === name) return searched
    // There is not always room for two.
    searched = null
    hasher ??= await openHasher()
    const shape = segmentPrograms(work, segment)[at.transition]!.shaped[at.step]!.outputs[at.output]!
    const bytes = await run.outputOf(segment, at, at.output)
    searched = { name, shape, bytes, nodes: nodesOf(hasher, shape, bytes) }
    return searched
  }
  return {
    link: async (segments) => links[segments] ?? null,
    mark: async (segments) =>
      segments === 0 ? { transition: 0, root: firstRoot, statistics: [] } : (marks[segments - 1] ?? null),
    trace: async (segment) => await run.trace(segment),
    nodes: async (segment, at, level, from, count) => (await search(segment, at)).nodes(level, from, count),
    leaf: async (segment, at, leaf) => {
      const { shape, bytes } = await search(segment, at)
      const { start, length } = leafSpan(shape, leaf)
      return bytes.slice(start, start + length)
    },
    patch: async (segment, draw) => (await run.open(segment, [draw]))[0] ?? null,
  }
}

/** The tree of a tensor, of which the upper half of the levels is kept: the rest is hashed anew, under a node at a time. */
function nodesOf(hasher: TensorHasher, shape: TensorShape, bytes: Uint8Array): Nodes {
  const depth = depthOf(leavesOf(shape))
  const height = Math.ceil(depth / 2)
  const hashUnder = (at: number) => ({ at, levels: hasher.levelsUnder(shape, bytes, height, at) })
  const upper = levelsOver(
    Array.from({ length: 2 ** (depth - height) }, (_, at) => hashUnder(at).levels.slice(-HASH_BYTES)),
  )
  let lower = hashUnder(0)
  const nodeAt = (level: number, at: number): Uint8Array => {
    if (level >= height) return upper[level - height]![at]!
    const width = 2 ** (height - level)
    const above = Math.floor(at / width)
    if (lower.at !== above) lower = hashUnder(above)
    const start = HASH_BYTES * (levelStart(height, level) + (at % width))
    return lower.levels.subarray(start, start + HASH_BYTES)
  }
  return (level, from, count) => {
    const end = Math.min(from + count, 2 ** (depth - level))
    return Array.from({ length: Math.max(0, end - from) }, (_, i) => nodeAt(level, from + i))
  }
}
