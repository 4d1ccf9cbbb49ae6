import { equalBytes } from '../../bytes/bytes.ts'
import { nodeHash } from '../../proof/merkle.ts'
import { checkPatch, type PatchEvidence, type RunPatch } from '../checkPatch.ts'
import { placeTrace } from '../checkSegment.ts'
import type { PatchDraw } from '../draws.ts'
import type { ShapedProgram } from '../program.ts'
import { nextLink, type StateMark } from '../stateChain.ts'
import { ELEMENT_BYTES, LEAF_BYTES, leafSpan, leavesOf, leavesOfRow } from '../tensor.ts'
import { depthOf, tensorLeaf } from '../tensorTree.ts'
import { type RootOf, tracedSegment } from '../trace.ts'
import { segmentPrograms, type Work } from '../work.ts'

/** An output of a step of a segment: which transition, which step, which of its outputs. */
export interface OutputAt extends Omit<PatchDraw, 'patch'> {
  readonly output: number
}

/** One side of a dispute. It answers from what it computed, or with null; an answer that contradicts it is a defeat. */
export interface Disputant {
  /** h after so many segments. */
  link(segments: number): Promise<Uint8Array | null>
  /** What that h was made of; of the beginning, the first root. */
  mark(segments: number): Promise<StateMark | null>
  /** Every root of a segment's trace. */
  trace(segment: number): Promise<readonly Uint8Array[] | null>
  /** Nodes of the tree of a step's output, at `level` (0 are the leaves). */
  nodes(
    segment: number,
    at: OutputAt,
    level: number,
    from: number,
    count: number,
  ): Promise<readonly Uint8Array[] | null>
  /** The bytes of a leaf of a step's output. */
  leaf(segment: number, at: OutputAt, leaf: number): Promise<Uint8Array | null>
  patch(segment: number, draw: PatchDraw): Promise<PatchEvidence | null>
}

export interface DisputeOutcome {
  /** Who is wrong, by what was looked at, or did not answer; neither, where they agree after all. */
  readonly wrong: 'first' | 'second' | 'both' | 'neither'
  /** Whether it did not answer: nothing was shown of it then. */
  readonly isSilent: boolean
  /** Questions that had to be answered, each by both. */
  readonly rounds: number
  readonly segment?: number
  /** The patch that was recomputed, where it came to that. */
  readonly draw?: PatchDraw
  readonly op?: string
}

/** W5.4. So many answers at once: three rounds find one link in 4,096, or one leaf. */
const WAYS = 16
const WAYS_DEPTH = 4

/** A side that stopped answering, or contradicted itself. */
class Defeat extends Error {
  readonly wrong: DisputeOutcome['wrong']
  readonly isSilent: boolean

  constructor(isRight: readonly [boolean, boolean], isSilent = false) {
    super('a side of a dispute is wrong')
    this.isSilent = isSilent
    this.wrong = isRight[0] ? (isRight[1] ? 'neither' : 'second') : isRight[1] ? 'first' : 'both'
  }
}

type Both<T> = readonly [T, T]

/**
 * Searches for the first thing two sides differ in: a segment, a step, a leaf, an element. Everything before it they agree
 * on, so one recomputed patch says who is wrong, whoever looks.
 */
export async function settleDispute<K>(
  work: Work<K>,
  sides: Both<Disputant>,
  runPatch: RunPatch,
): Promise<DisputeOutcome> {
  let rounds = 0
  const ask: Ask = async (question) => {
    rounds++
    const answers = await Promise.all(sides.map(question))
    requireBoth(answers, (answer) => answer !== null, true)
    return answers as never
  }
  const found: { segment?: number; draw?: PatchDraw; op?: string } = {}
  try {
    const links = await firstOtherLink(ask, work.ends.length + 1)
    if (links === null) return { wrong: 'neither', isSilent: false, rounds }
    const segment = links - 1
    found.segment = segment
    const programs = segmentPrograms(work, segment)
    const { at, rootsOf } = await firstOtherStep(ask, work, segment)
    const program = programs[at.transition]!
    const { op, outputs } = program.steps[at.step]!
    found.op = op
    const { transition, step } = at
    const roots = rootsOf.map((rootOf) => rootOf(transition, outputs[at.output]!)) as [Uint8Array, Uint8Array]
    const draw = { transition, step, patch: await otherPatch(ask, work, program, segment, at, roots) }
    found.draw = draw
    const shown = await ask((side) => side.patch(segment, draw))
    const isRight = rootsOf.map((rootOf, i) => checkPatch(work, program, draw, rootOf, shown[i]!, runPatch) === null)
    throw new Defeat(isRight as [boolean, boolean])
  } catch (defeat) {
    if (!(defeat instanceof Defeat)) throw defeat
    return { ...found, wrong: defeat.wrong, isSilent: defeat.isSilent, rounds }
  }
}

type Ask = <T>(question: (side: Disputant) => Promise<T | null>) => Promise<Both<T>>

function requireBoth<T>(answers: readonly T[], holds: (answer: T, side: number) => boolean, isSilent = false): void {
  const isRight = answers.map(holds)
  if (!isRight.every(Boolean)) throw new Defeat(isRight as [boolean, boolean], isSilent)
}

/** After how many segments h differs for the first time: once it does, it does for good. */
async function firstOtherLink(ask: Ask, count: number): Promise<number | null> {
  let [low, high] = [0, count]
  while (low < high) {
    const step = Math.ceil((high - low) / WAYS)
    const asked = Array.from({ length: WAYS }, (_, i) => low + (i + 1) * step - 1).filter(
      (at) => at < Math.min(high, count),
    )
    if (high === count && asked.at(-1) !== count - 1) asked.push(count - 1)
    const [one, other] = await ask((side) => allOf(asked.map((at) => side.link(at))))
    const differs = asked.findIndex((_, i) => !equalBytes(one[i]!, other[i]!))
    if (differs < 0) {
      if (high === count) return null
      low = asked.at(-1)! + 1
    } else {
      low = differs === 0 ? low : asked[differs - 1]! + 1
      high = asked[differs]!
    }
  }
  return low
}

/**
 * The first step whose output differs. What each side says of the segment must fit its own h before: the state it begins
 * with, the steps, the state it ends with.
 */
async function firstOtherStep<K>(
  ask: Ask,
  work: Work<K>,
  segment: number,
): Promise<{ readonly at: OutputAt; readonly rootsOf: Both<RootOf> }> {
  const ends = await ask((side) => endsOf(side, segment))
  requireBoth(ends, ({ after, links }) => !links || equalBytes(nextLink(links.before, after), links.after))
  const traces = await ask((side) => side.trace(segment))
  const sides = ends.map(({ before, after }) => tracedSegment(work, segment, { before: before?.root ?? null, after }))
  const found = traces.map((roots, i) => placeTrace(sides[i]!, roots))
  const fits = (one: (typeof found)[number]): one is RootOf => !('code' in one)
  requireBoth(found, fits)
  const { programs, plan } = sides[0]!
  const differs = traces[0].findIndex((root, i) => !equalBytes(root, traces[1][i]!))
  const written = programs.flatMap(({ steps }, transition) =>
    steps.flatMap(({ outputs }, step) => outputs.map((_, output) => ({ transition, step, output }))),
  )
  const at = written[differs - plan.counts[0]]
  // Another state before under the same h, or another h after the same steps: that would take a broken hash.
  if (!at) throw new Defeat([false, false])
  const [one, other] = found.filter(fits)
  return { at, rootsOf: [one!, other!] }
}

/** What a side says lies around a segment; null where it does not say all of it. */
async function endsOf(side: Disputant, segment: number): Promise<SaidEnds | null> {
  const after = await side.mark(segment + 1)
  if (segment < 0) return after && { before: null, after, links: null }
  const [before, ...links] = [await side.mark(segment), await side.link(segment), await side.link(segment + 1)]
  return before && after && links[0] && links[1]
    ? { before, after, links: { before: links[0], after: links[1] } }
    : null
}

interface SaidEnds {
  readonly before: StateMark | null
  readonly after: StateMark
  /** h before and after; none before the beginning. */
  readonly links: { readonly before: Uint8Array; readonly after: Uint8Array } | null
}

/** The patch that makes the first element in which the outputs of a step differ. */
async function otherPatch<K>(
  ask: Ask,
  work: Work<K>,
  program: ShapedProgram,
  segment: number,
  at: OutputAt,
  roots: Both<Uint8Array>,
): Promise<number> {
  const shaped = program.shaped[at.step]!
  const output = shaped.outputs[at.output]!
  let level = depthOf(leavesOf(output))
  let node = 0
  let parents = roots
  while (level > 0) {
    const down = Math.min(WAYS_DEPTH, level)
    level -= down
    const from = node * 2 ** down
    const under = await ask((side) => side.nodes(segment, at, level, from, 2 ** down))
    requireBoth(under, (nodes, i) => isUnder(nodes, parents[i]!, 2 ** down))
    const differs = under[0].findIndex((hash, i) => !equalBytes(hash, under[1][i]!))
    node = from + differs
    parents = [under[0][differs]!, under[1][differs]!]
  }
  // A tree has leaves of their lengths, and nothing after them (attack 204).
  if (node >= leavesOf(output)) throw new Defeat(parents.map(isPadding) as [boolean, boolean])
  const { length } = leafSpan(output, node)
  const leaves = await ask((side) => side.leaf(segment, at, node))
  requireBoth(leaves, (bytes, i) => bytes.length === length && equalBytes(tensorLeaf(bytes), parents[i]!))
  const size = ELEMENT_BYTES[output.type]
  const element = Math.floor(leaves[0].findIndex((byte, i) => byte !== leaves[1][i]) / size)
  const inRow = (node % leavesOfRow(output)) * (LEAF_BYTES / size) + element
  return work.ops[program.steps[at.step]!.op]!.patchAt(shaped, at.output, Math.floor(node / leavesOfRow(output)), inRow)
}

const isPadding = (hash: Uint8Array): boolean => hash.every((byte) => byte === 0)

async function allOf(answers: readonly Promise<Uint8Array | null>[]): Promise<readonly Uint8Array[] | null> {
  const all = await Promise.all(answers)
  return all.every((answer) => answer !== null) ? (all as Uint8Array[]) : null
}

/** Whether some nodes are those under one that was shown before. */
function isUnder(nodes: readonly Uint8Array[], parent: Uint8Array, count: number): boolean {
  if (nodes.length !== count) return false
  let level = nodes
  while (level.length > 1) level = level.flatMap((node, i) => (i % 2 === 0 ? [nodeHash(node, level[i + 1]!)] : []))
  return equalBytes(level[0]!, parent)
}
