import { concatBytes, equalBytes, u32le } from '../bytes/bytes.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import { Cursor } from './cursor.ts'
import type { PatchDraw } from './draws.ts'
import type { Patch } from './op.ts'
import type { ShapedProgram } from './program.ts'
import { stateRoot } from './stateChain.ts'
import {
  isInside,
  leafSpan,
  leavesOf,
  leavesUnder,
  outsideFault,
  packRegion,
  type Region,
  type TensorShape,
} from './tensor.ts'
import { depthOf, proofBytes, rootFromLeaves, tensorLeaf, tensorRoot } from './tensorTree.ts'
import { placeRoots, type RootOf, readTrace, rootsBy, type TracedSegment } from './trace.ts'
import type { Work } from './work.ts'
import type { WorkProblem } from './workProblems.ts'

/** The bytes of a patch: the leaves of its tensors, and the hashes that lead from them to the roots. */
export interface PatchEvidence {
  readonly leaves: Uint8Array
  readonly proof: Uint8Array
}

/** What a receipt shows of a segment that was run again with trace. */
export interface SegmentEvidence {
  /** Over the roots of its steps. */
  readonly stepsRoot: Uint8Array
  /** Roots of the tensors that are opened, and the hashes that lead from them to what was committed. */
  readonly trace: Uint8Array
  readonly patches: readonly PatchEvidence[]
}

/** Hands out the bytes of leaves of a tensor, one after the other; null where it cannot, or does not believe them. */
type TakeLeaves = (name: string, shape: TensorShape, leaves: readonly number[]) => ((leaf: number) => Uint8Array) | null

/** All bytes of a tensor that was handed in; null where nobody has it here. */
type TakeHeld = (name: string) => Uint8Array | null

/** What a patch touches, packed: its outputs, then its inputs, each where those before it say. */
export interface GatheredPatch {
  readonly outputs: readonly Uint8Array[]
  readonly inputs: readonly Uint8Array[]
  /** Where the inputs lie; of several regions the first, with the rows of all. */
  readonly regions: readonly Region[]
}

/** Walks through the tensors that a patch touches, in the one order that device and checker share. */
export function gatherPatch(
  { steps, shapes }: ShapedProgram,
  step: number,
  patch: Patch,
  take: TakeLeaves,
  held: TakeHeld = () => null,
): GatheredPatch | null {
  const pack = (name: string, regions: readonly Region[]): Uint8Array | null => {
    const shape = shapes.get(name)!
    if (!regions.every((region) => isInside(region, shape))) return null
    const leaves = new Set(regions.flatMap((region) => leavesUnder(shape, region)))
    const bytesOf = take(
      name,
      shape,
      [...leaves].sort((a, b) => a - b),
    )
    return bytesOf && concatBytes(...regions.map((region) => packRegion(shape, region, bytesOf)))
  }
  const outputs = steps[step]!.outputs.map((name, i) => pack(name, [patch.outputs[i]!]))
  const inputs: Uint8Array[] = []
  const regions: Region[] = []
  for (const [i, name] of steps[step]!.inputs.entries()) {
    const where = patch.inputs[i]!
    const { rows, width } = shapes.get(name)!
    const isHeld = where === 'held'
    const whole = { row: 0, rows, column: 0, columns: width }
    const parts = isHeld ? [whole] : [typeof where === 'function' ? where(inputs) : where].flat()
    const bytes = isHeld ? held(name) : pack(name, parts)
    if (!bytes) return null
    inputs.push(bytes)
    regions.push({ ...parts[0]!, rows: parts.reduce((sum, { rows }) => sum + rows, 0) })
  }
  return outputs.every((bytes) => bytes !== null) ? { outputs: outputs as Uint8Array[], inputs, regions } : null
}

/** Runs one step on gathered bytes; null where it makes something that is no number. */
export type RunPatch = (
  op: string,
  patch: Patch,
  step: ShapedProgram['shaped'][number],
  gathered: Pick<GatheredPatch, 'inputs' | 'regions'>,
) => readonly Uint8Array[] | null

/** The roots of a whole trace, if it leads from the one committed state to the other; else what is wrong. */
export function placeTrace(
  { plan, programs, ends: { before, after } }: TracedSegment,
  roots: readonly Uint8Array[],
): RootOf | WorkProblem {
  const placed = placeRoots(plan, roots)
  if (!placed) return { code: 'ROOTS_MISSING' }
  const [carried, , made] = plan.counts
  if (carried > 0 && !equalBytes(stateRoot(placed.slice(0, carried)), before!)) return { code: 'STATE_BEFORE_DIFFERS' }
  if (!equalBytes(stateRoot(placed.slice(placed.length - made)), after.root)) return { code: 'STATE_AFTER_DIFFERS' }
  const rootOf = rootsBy(plan, (place) => placed[place]!)
  return areFigures(programs, rootOf, after.statistics) ? rootOf : { code: 'STATISTICS_DIFFER' }
}

/** Whether the figures that were said are those of a program's trace, word for word. */
function areFigures(programs: readonly ShapedProgram[], rootOf: RootOf, said: readonly number[]): boolean {
  const last = programs.length - 1
  const { statistics, shapes } = programs[last]!
  let next = 0
  const areSame = statistics.every((name) => {
    const shape = shapes.get(name)!
    const words = said.slice(next, next + shape.rows * shape.width)
    next += shape.rows * shape.width
    return next <= said.length && equalBytes(tensorRoot(shape, concatBytes(...words.map(u32le))), rootOf(last, name))
  })
  return areSame && next === said.length
}

/** Every rule of W4.3 for one drawn segment: the roots it begins and ends with, and every drawn patch. */
export function checkSegment<K>(
  work: Work<K>,
  traced: TracedSegment,
  draws: readonly PatchDraw[],
  evidence: SegmentEvidence,
  runPatch: RunPatch,
): WorkProblem | null {
  const { programs, plan, ends } = traced
  const roots = readTrace(traced, draws, evidence)
  if ('code' in roots) return roots
  const rootOf = rootsBy(plan, (place) => roots.get(place)!)
  if (!areFigures(programs, rootOf, ends.after.statistics)) return { code: 'STATISTICS_DIFFER' }
  if (evidence.patches.length !== draws.length) return { code: 'PATCH_SIZE' }
  for (const [i, draw] of draws.entries()) {
    const program = programs[draw.transition]!
    const code = checkPatch(work, program, draw, rootOf, evidence.patches[i]!, runPatch)
    if (code) return { code, transition: draw.transition, step: program.steps[draw.step]!.op }
  }
  return null
}

/** One patch against the roots it was committed under, and against what its step's definition makes of it. */
export function checkPatch<K>(
  { ops, held, givenRoots }: Work<K>,
  program: ShapedProgram,
  { transition, step, patch: index }: PatchDraw,
  rootOf: RootOf,
  { leaves, proof }: PatchEvidence,
  runPatch: RunPatch,
): WorkProblem['code'] | null {
  const { op } = program.steps[step]!
  const shaped = program.shaped[step]!
  const patch = ops[op]!.patch(shaped, index)
  if (patch.inputs.some((where, i) => where === 'held' && !held?.has(program.steps[step]!.inputs[i]!)))
    return 'INPUT_NOT_HELD'
  const [bytes, hashes] = [new Cursor(leaves), new Cursor(proof)]
  const takeLeaves: TakeLeaves = (name, shape, asked) => {
    const found = new Map(asked.map((leaf) => [leaf, bytes.take(leafSpan(shape, leaf).length)]))
    const depth = depthOf(leavesOf(shape))
    const beside = hashes.take(proofBytes(depth, asked))
    if (!beside || [...found.values()].includes(null)) return null
    const opened = new Map([...found].map(([leaf, content]) => [leaf, tensorLeaf(content!)]))
    if (!equalBytes(rootFromLeaves(depth, opened, beside), rootOf(transition, name))) return null
    return (leaf) => found.get(leaf)!
  }
  const gathered = gatherPatch(program, step, patch, takeLeaves, (name) => held?.get(name) ?? null)
  if (!gathered) return 'PATCH_NOT_COMMITTED'
  if (bytes.left + hashes.left > 0) return 'PATCH_SIZE'
  const { inputs } = program.steps[step]!
  const isFaulty = (name: string, i: number) =>
    givenRoots.has(name) && outsideFault(shaped.inputs[i]!.type, gathered.inputs[i]!) !== null
  if (inputs.some(isFaulty)) return 'INPUT_FAULT'
  const made = runPatch(op, patch, shaped, gathered)
  return made?.every((output, i) => equalBytes(output, gathered.outputs[i]!)) ? null : 'PATCH_WRONG'
}

/** All roots of a trace from their bytes. */
export const splitRoots = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, i) => bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES))
