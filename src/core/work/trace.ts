import { concatBytes, equalBytes, u32le } from '../bytes/bytes.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { HASH_BYTES, nodeHash } from '../proof/merkle.ts'
import { Cursor } from './cursor.ts'
import type { PatchDraw } from './draws.ts'
import type { ShapedProgram } from './program.ts'
import type { StateMark } from './stateChain.ts'
import { depthOf, levelsOver, missingNodes, proofBytes, proveLeaves, rootFromLeaves, rootOver } from './tensorTree.ts'
import { segmentPrograms, type Work } from './work.ts'
import type { WorkProblem } from './workProblems.ts'

/** What was committed before a segment and after it; nothing before the beginning. */
export interface SegmentEnds {
  readonly before: Uint8Array | null
  readonly after: StateMark
}

/**
 * W4.3.3. Where the root of every tensor of a segment stands: under the state before, under the steps or under the state
 * after, a tree each; places are counted through all three. A tensor has one place, whoever reads it.
 */
export interface TracePlan {
  readonly counts: readonly [before: number, steps: number, after: number]
  /** By transition and name. */
  readonly homes: readonly ReadonlyMap<string, Home>[]
  /** Places of the roots of a trace, in the order in which they are said. */
  readonly said: readonly number[]
  /** Places of the state after whose tensor has its root elsewhere: both must be the same. */
  readonly again: readonly { readonly at: number; readonly home: Home }[]
}

/** The place of a root; of what was handed in, the root itself, which stands in the specification. */
type Home = number | Uint8Array

/** A segment that is run again with trace. */
export interface TracedSegment {
  readonly segment: number
  readonly programs: readonly ShapedProgram[]
  readonly ends: SegmentEnds
  readonly plan: TracePlan
}

/** The roots of tensors of a segment's transitions. */
export type RootOf = (transition: number, name: string) => Uint8Array

const NO_ROOT: Uint8Array = new Uint8Array(HASH_BYTES)

export function tracedSegment<K>(work: Work<K>, segment: number, ends: SegmentEnds): TracedSegment {
  const programs = segmentPrograms(work, segment)
  return { segment, programs, ends, plan: planTrace(work, programs, ends.before === null) }
}

/** What lies around a segment of a work whose states were committed. */
export function endsOf(segment: number, firstRoot: Uint8Array, marks: readonly StateMark[]): SegmentEnds {
  if (segment < 0) return { before: null, after: { transition: 0, root: firstRoot, statistics: [] } }
  return { before: segment === 0 ? firstRoot : marks[segment - 1]!.root, after: marks[segment]! }
}

/** The same of a segment that is a transition: there is a state before it. */
export function stepEnds(segment: number, firstRoot: Uint8Array, marks: readonly StateMark[]) {
  const { before, after } = endsOf(segment, firstRoot, marks)
  return { before: before!, after }
}

function planTrace<K>(work: Work<K>, programs: readonly ShapedProgram[], isBeginning: boolean): TracePlan {
  const names = isBeginning || work.isIndependent ? [] : [...work.state.keys()]
  const { after, steps: lastSteps } = programs.at(-1)!
  const inAfter = new Map(after.map((name, i) => [name, i] as const).reverse())
  const ends = lastSteps.flatMap(({ outputs }) => outputs).filter((name) => inAfter.has(name)).length
  const ofSteps = programs.reduce((sum, { shaped }) => sum + countOutputs(shaped), 0) - ends
  const firstAfter = names.length + ofSteps
  const said = names.map((_, i) => i)
  let state: readonly Home[] = said.slice()
  let next = names.length
  const homes = programs.map(({ steps, after: made }, transition) => {
    const isLast = transition === programs.length - 1
    const here = new Map<string, Home>(work.givenRoots)
    for (const [i, name] of names.entries()) here.set(name, state[i]!)
    for (const name of steps.flatMap(({ outputs }) => outputs)) {
      const place = isLast && inAfter.has(name) ? firstAfter + inAfter.get(name)! : next++
      here.set(name, place)
      said.push(place)
    }
    state = made.map((name) => here.get(name)!)
    return here
  })
  const again = state.flatMap((home, i) => (home === firstAfter + i ? [] : [{ at: firstAfter + i, home }]))
  return { counts: [names.length, ofSteps, after.length], homes, said, again }
}

/** How many tensors some steps write. */
const countOutputs = (shaped: ShapedProgram['shaped']): number =>
  shaped.reduce((sum, { outputs }) => sum + outputs.length, 0)

/** Every root of a trace at its place; null where more or fewer were said. */
export function placeRoots({ counts, said, again }: TracePlan, roots: readonly Uint8Array[]): Placed | null {
  if (roots.length !== said.length) return null
  const placed = Array.from({ length: counts[0] + counts[1] + counts[2] }, () => NO_ROOT)
  for (const [i, place] of said.entries()) placed[place] = roots[i]!
  for (const { at, home } of again) placed[at] = typeof home === 'number' ? placed[home]! : home
  return placed
}

type Placed = readonly Uint8Array[]

/** The root of every tensor of which it is known at its place. */
export const rootsBy =
  ({ homes }: TracePlan, at: (place: number) => Uint8Array): RootOf =>
  (transition, name) => {
    const home = homes[transition]!.get(name)!
    return typeof home === 'number' ? at(home) : home
  }

/** The three trees of a trace: where their places begin, and how many they are. */
const treesOf = ({ counts: [before, steps, after] }: TracePlan) => [
  { from: 0, count: before },
  { from: before, count: steps },
  { from: before + steps, count: after },
]

/** Root over the steps of a segment. */
export const stepsRootOf = ({ counts: [before, steps] }: TracePlan, placed: Placed): Uint8Array =>
  steps === 0 ? NO_ROOT : rootOver(placed.slice(before, before + steps))

/** W4.3.3. What the second draw is bound to: every root of a segment, and how many there are. */
export const traceRoot = ({ plan, ends }: Pick<TracedSegment, 'plan' | 'ends'>, stepsRoot: Uint8Array): Uint8Array =>
  taggedHash(
    'tsw1/trace',
    ...plan.counts.map(u32le),
    plan.counts[0] > 0 ? ends.before! : NO_ROOT,
    stepsRoot,
    ends.after.root,
  )

/** W4.4.3. Whose roots a receipt shows: tensors that drawn patches touch, figures, and what stands in two places. */
function openedPlaces({ plan, programs }: TracedSegment, draws: readonly PatchDraw[]): readonly number[] {
  const last = programs.length - 1
  const named = (transition: number, names: readonly string[]) =>
    names.map((name) => plan.homes[transition]!.get(name)!)
  const touched = draws.flatMap(({ transition, step }) => {
    const { inputs, outputs } = programs[transition]!.steps[step]!
    return named(transition, [...inputs, ...outputs])
  })
  const twice = plan.again.flatMap(({ at, home }) => [at, home])
  const places = [...touched, ...named(last, programs[last]!.statistics), ...twice]
  return [...new Set(places.filter((home) => typeof home === 'number'))].sort((a, b) => a - b)
}

/** Which of some places are in a tree, counted from its first. */
const leavesAmong = (places: readonly number[], from: number, count: number): readonly number[] =>
  places.map((place) => place - from).filter((leaf) => leaf >= 0 && leaf < count)

/** The roots that a receipt shows of a segment, tree by tree, each with the hashes that complete it. */
export function openTrace(traced: TracedSegment, draws: readonly PatchDraw[], placed: Placed): Uint8Array {
  const places = openedPlaces(traced, draws)
  const opened = treesOf(traced.plan).flatMap(({ from, count }) => {
    const leaves = leavesAmong(places, from, count)
    if (leaves.length === 0) return []
    const roots = placed.slice(from, from + count)
    return [...leaves.map((leaf) => roots[leaf]!), proveLeaves(levelsOver(roots), leaves)]
  })
  return concatBytes(...opened)
}

const OTHER_ROOT = ['STATE_BEFORE_DIFFERS', 'ROOTS_NOT_COMMITTED', 'STATE_AFTER_DIFFERS'] as const

/** Roots by their places, if they are those that were committed; else what is wrong. */
export function readTrace(
  traced: TracedSegment,
  draws: readonly PatchDraw[],
  { stepsRoot, trace }: { readonly stepsRoot: Uint8Array; readonly trace: Uint8Array },
): ReadonlyMap<number, Uint8Array> | WorkProblem {
  const { plan, ends } = traced
  const places = openedPlaces(traced, draws)
  const committed = [ends.before, stepsRoot, ends.after.root]
  // What nothing hangs under must not be free to choose: draws follow from it.
  if (plan.counts[1] === 0 && !equalBytes(stepsRoot, NO_ROOT)) return { code: 'ROOTS_NOT_COMMITTED' }
  const bytes = new Cursor(trace)
  const found = new Map<number, Uint8Array>()
  for (const [tree, { from, count }] of treesOf(plan).entries()) {
    const leaves = leavesAmong(places, from, count)
    if (leaves.length === 0) continue
    const said = bytes.take(HASH_BYTES * leaves.length)
    const beside = bytes.take(proofBytes(depthOf(count), leaves))
    if (!said || !beside) return { code: 'ROOTS_MISSING' }
    const roots = new Map(leaves.map((leaf, i) => [leaf, said.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)]))
    const isCommitted = equalBytes(rootFromLeaves(depthOf(count), roots, beside), committed[tree]!)
    if (!isCommitted || !isPadded(count, leaves, beside)) return { code: OTHER_ROOT[tree]! }
    for (const [leaf, root] of roots) found.set(from + leaf, root)
  }
  if (bytes.left > 0) return { code: 'ROOTS_MISSING' }
  const isSame = ({ at, home }: TracePlan['again'][number]) =>
    equalBytes(found.get(at)!, typeof home === 'number' ? found.get(home)! : home)
  return plan.again.every(isSame) ? found : { code: 'STATE_AFTER_DIFFERS' }
}

/** Whether what stands after the last leaf is padding, as far as it is seen: a tree has as many leaves as its plan. */
function isPadded(count: number, leaves: readonly number[], beside: Uint8Array): boolean {
  const padding = [NO_ROOT]
  const nodes = [...missingNodes(depthOf(count), leaves)]
  return nodes.every(({ level, at }, i) => {
    while (padding.length <= level) padding.push(nodeHash(padding.at(-1)!, padding.at(-1)!))
    const isBehind = at * 2 ** level >= count
    return !isBehind || equalBytes(beside.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES), padding[level]!)
  })
}
