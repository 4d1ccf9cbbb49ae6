import { concatBytes, equalBytes, u32le } from '../bytes/bytes.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import type { PatchDraw } from './draws.ts'
import type { Patch } from './op.ts'
import type { ShapedProgram } from './program.ts'
import { type StateMark, stateRoot } from './stateChain.ts'
import { leafSpan, leavesOf, leavesUnder, packRegion, type Region, type TensorShape } from './tensor.ts'
import { depthOf, proofBytes, rootFromLeaves, rootOver, tensorLeaf } from './tensorTree.ts'
import type { Work } from './work.ts'

/** Why a receipt is not believed. */
export const WORK_PROBLEMS = {
  OTHER_WORK: { meaning: 'the receipt is about another work than its specification describes' },
  NOT_AS_DRAWN: { meaning: 'other segments were opened than the nonces draw' },
  ROOTS_MISSING: { meaning: 'the roots of a drawn segment are not as many as its steps' },
  STATE_BEFORE_DIFFERS: { meaning: 'a drawn segment does not begin with the state that was committed' },
  STATE_AFTER_DIFFERS: { meaning: 'a drawn segment does not end with the state that was committed' },
  STATISTICS_DIFFER: { meaning: 'loss or norm are not those that were committed' },
  PATCH_SIZE: { meaning: 'an opened patch has more or fewer bytes than its place asks for' },
  PATCH_NOT_COMMITTED: { meaning: 'an opened patch is not part of what was committed' },
  PATCH_WRONG: { meaning: 'a step was not computed as its definition says' },
} as const

export interface WorkProblem {
  readonly code: keyof typeof WORK_PROBLEMS
  readonly segment?: number
  readonly transition?: number
  readonly step?: string
}

/** The bytes of a patch: the leaves of its tensors, and the hashes that lead from them to the roots. */
export interface PatchEvidence {
  readonly leaves: Uint8Array
  readonly proof: Uint8Array
}

/** A segment that was run again with trace: a root for each tensor of the state before and for each step. */
export interface SegmentEvidence {
  readonly roots: readonly Uint8Array[]
  readonly patches: readonly PatchEvidence[]
}

/** What is read of one tensor by a patch. */
export interface OpenedTensor {
  readonly name: string
  readonly shape: TensorShape
  /** Ascending. */
  readonly leaves: readonly number[]
}

/** The tensors that a patch reads, its output first; a tensor that is read twice is opened once. */
export function openedTensors({ steps, shapes }: ShapedProgram, step: number, patch: Patch): readonly OpenedTensor[] {
  const { inputs, output } = steps[step]!
  const regions: [string, Region][] = [[output, patch.output]]
  for (const [i, name] of inputs.entries()) regions.push([name, patch.inputs[i]!])
  const leaves = new Map<string, Set<number>>()
  for (const [name, region] of regions) {
    const known = leaves.get(name) ?? new Set()
    for (const leaf of leavesUnder(shapes.get(name)!, region)) known.add(leaf)
    leaves.set(name, known)
  }
  return [...leaves].map(([name, known]) => ({
    name,
    shape: shapes.get(name)!,
    leaves: [...known].sort((a, b) => a - b),
  }))
}

const leafBytesOf = ({ shape, leaves }: OpenedTensor): number =>
  leaves.reduce((sum, leaf) => sum + leafSpan(shape, leaf).length, 0)

/** How many bytes a patch takes, leaves and proof. */
export function patchSize(opened: readonly OpenedTensor[]): { readonly leaves: number; readonly proof: number } {
  const sum = (of: (tensor: OpenedTensor) => number) => opened.reduce((total, tensor) => total + of(tensor), 0)
  return {
    leaves: sum(leafBytesOf),
    proof: sum(({ shape, leaves }) => proofBytes(depthOf(leavesOf(shape)), leaves)),
  }
}

/** Runs one step on gathered bytes. */
export type RunPatch = (
  op: string,
  patch: Patch,
  step: ShapedProgram['shaped'][number],
  inputs: readonly Uint8Array[],
) => Uint8Array

/** Where the roots of a segment lie: by transition, the root of every tensor its program names. */
function placeRoots<K>(
  work: Work<K>,
  programs: readonly ShapedProgram[],
  roots: readonly Uint8Array[],
  isBeginning: boolean,
): readonly ReadonlyMap<string, Uint8Array>[] | null {
  const carriesState = !isBeginning && !work.isIndependent
  const before = carriesState ? work.state.size : 0
  if (roots.length !== before + programs.reduce((sum, { steps }) => sum + steps.length, 0)) return null
  let state: readonly Uint8Array[] = roots.slice(0, before)
  let next = before
  return programs.map(({ steps, after }) => {
    const here = new Map(work.givenRoots)
    for (const [i, name] of [...work.state.keys()].entries()) if (carriesState) here.set(name, state[i]!)
    for (const { output } of steps) here.set(output, roots[next++]!)
    state = after.map((name) => here.get(name)!)
    return here
  })
}

/** What was committed before a segment and after it; nothing before the beginning. */
export interface SegmentEnds {
  readonly before: Uint8Array | null
  readonly after: StateMark
}

/** Where the roots of a trace lie, if the trace leads from the one committed state to the other; else what is wrong. */
export function placeTrace<K>(
  work: Work<K>,
  programs: readonly ShapedProgram[],
  { before, after }: SegmentEnds,
  roots: readonly Uint8Array[],
): readonly ReadonlyMap<string, Uint8Array>[] | WorkProblem {
  const places = placeRoots(work, programs, roots, before === null)
  if (!places) return { code: 'ROOTS_MISSING' }
  if (before && !work.isIndependent && !equalBytes(stateRoot(roots.slice(0, work.state.size)), before))
    return { code: 'STATE_BEFORE_DIFFERS' }
  const last = programs.at(-1)!
  const ends = places.at(-1)!
  if (!equalBytes(stateRoot(last.after.map((name) => ends.get(name)!)), after.root))
    return { code: 'STATE_AFTER_DIFFERS' }
  const statistics = last.statistics.map((name) => ends.get(name)!)
  const stated = after.statistics.map((bits) => rootOver([tensorLeaf(u32le(bits))]))
  return statistics.length === stated.length && statistics.every((root, i) => equalBytes(root, stated[i]!))
    ? places
    : { code: 'STATISTICS_DIFFER' }
}

/** Every rule of W4.6 for one drawn segment: the roots it begins and ends with, and every drawn patch. */
export function checkSegment<K>(
  work: Work<K>,
  programs: readonly ShapedProgram[],
  ends: SegmentEnds,
  draws: readonly PatchDraw[],
  evidence: SegmentEvidence,
  runPatch: RunPatch,
): WorkProblem | null {
  const places = placeTrace(work, programs, ends, evidence.roots)
  if ('code' in places) return places
  if (evidence.patches.length !== draws.length) return { code: 'PATCH_SIZE' }
  for (const [i, draw] of draws.entries()) {
    const program = programs[draw.transition]!
    const code = checkPatch(work, program, draw, places[draw.transition]!, evidence.patches[i]!, runPatch)
    if (code) return { code, transition: draw.transition, step: program.steps[draw.step]!.op }
  }
  return null
}

/** One patch against the roots it was committed under, and against what its step's definition makes of it. */
export function checkPatch<K>(
  { ops }: Work<K>,
  program: ShapedProgram,
  { step, patch: index }: PatchDraw,
  roots: ReadonlyMap<string, Uint8Array>,
  { leaves, proof }: PatchEvidence,
  runPatch: RunPatch,
): WorkProblem['code'] | null {
  const { op, inputs, output } = program.steps[step]!
  const shaped = program.shaped[step]!
  const patch = ops[op]!.patch(shaped, index)
  const opened = openedTensors(program, step, patch)
  const size = patchSize(opened)
  if (leaves.length !== size.leaves || proof.length !== size.proof) return 'PATCH_SIZE'
  const given = takeLeaves(opened, leaves, proof, roots)
  if (!given) return 'PATCH_NOT_COMMITTED'
  const bytesOf = (name: string, region: Region) =>
    packRegion(program.shapes.get(name)!, region, (leaf) => given.get(name)!.get(leaf)!)
  const gathered = inputs.map((name, i) => bytesOf(name, patch.inputs[i]!))
  const made = runPatch(op, patch, shaped, gathered)
  return equalBytes(made, bytesOf(output, patch.output)) ? null : 'PATCH_WRONG'
}

/** The opened leaves by tensor and place, or null where one of them does not lead to its root. */
function takeLeaves(
  opened: readonly OpenedTensor[],
  leaves: Uint8Array,
  proof: Uint8Array,
  roots: ReadonlyMap<string, Uint8Array>,
): ReadonlyMap<string, ReadonlyMap<number, Uint8Array>> | null {
  const given = new Map<string, ReadonlyMap<number, Uint8Array>>()
  let [leafAt, proofAt] = [0, 0]
  for (const { name, shape, leaves: asked } of opened) {
    const bytes = new Map<number, Uint8Array>()
    for (const leaf of asked) {
      const { length } = leafSpan(shape, leaf)
      bytes.set(leaf, leaves.subarray(leafAt, leafAt + length))
      leafAt += length
    }
    const depth = depthOf(leavesOf(shape))
    const proofEnd = proofAt + proofBytes(depth, asked)
    const hashes = new Map([...bytes].map(([leaf, content]) => [leaf, tensorLeaf(content)]))
    if (!equalBytes(rootFromLeaves(depth, hashes, proof.subarray(proofAt, proofEnd)), roots.get(name)!)) return null
    proofAt = proofEnd
    given.set(name, bytes)
  }
  return given
}

/** The root over a whole trace: what the second draw is bound to. */
export const traceRoot = (roots: readonly Uint8Array[]): Uint8Array => rootOver(roots)

/** All roots of a trace from their bytes. */
export const splitRoots = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, i) => bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES))

export const joinRoots = (roots: readonly Uint8Array[]): Uint8Array => concatBytes(...roots)
