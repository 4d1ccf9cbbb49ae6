import { concatBytes, equalBytes, u32le } from '../bytes/bytes.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import type { PatchDraw } from './draws.ts'
import type { Patch } from './op.ts'
import type { ShapedProgram } from './program.ts'
import { type StateMark, stateRoot } from './stateChain.ts'
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
import { depthOf, proofBytes, rootFromLeaves, rootOver, tensorLeaf, tensorRoot } from './tensorTree.ts'
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
  REPLAY_DIFFERS: { meaning: 'a segment that was run again here came to another state' },
  INPUT_NOT_HELD: { meaning: 'the patches can be recomputed only by whoever has the inputs of the work' },
  INPUT_FAULT: { meaning: 'an input of the work holds a number that no input may hold' },
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

/** Where the roots of a segment lie: by transition, the root of every tensor its program names. */
function placeRoots<K>(
  work: Work<K>,
  programs: readonly ShapedProgram[],
  roots: readonly Uint8Array[],
  isBeginning: boolean,
): readonly ReadonlyMap<string, Uint8Array>[] | null {
  const carriesState = !isBeginning && !work.isIndependent
  const before = carriesState ? work.state.size : 0
  if (roots.length !== before + programs.reduce((sum, { shaped }) => sum + countOutputs(shaped), 0)) return null
  let state: readonly Uint8Array[] = roots.slice(0, before)
  let next = before
  return programs.map(({ steps, after }) => {
    const here = new Map(work.givenRoots)
    for (const [i, name] of [...work.state.keys()].entries()) if (carriesState) here.set(name, state[i]!)
    for (const { outputs } of steps) for (const name of outputs) here.set(name, roots[next++]!)
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
  return areFigures(last, ends, after.statistics) ? places : { code: 'STATISTICS_DIFFER' }
}

/** Whether the figures that were said are those of a program's trace, word for word. */
function areFigures(
  { statistics, shapes }: ShapedProgram,
  roots: ReadonlyMap<string, Uint8Array>,
  said: readonly number[],
): boolean {
  let next = 0
  const areSame = statistics.every((name) => {
    const shape = shapes.get(name)!
    const words = said.slice(next, next + shape.rows * shape.width)
    next += shape.rows * shape.width
    return next <= said.length && equalBytes(tensorRoot(shape, concatBytes(...words.map(u32le))), roots.get(name)!)
  })
  return areSame && next === said.length
}

/** Every rule of W4.3 for one drawn segment: the roots it begins and ends with, and every drawn patch. */
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
  { ops, held, givenRoots }: Work<K>,
  program: ShapedProgram,
  { step, patch: index }: PatchDraw,
  roots: ReadonlyMap<string, Uint8Array>,
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
    if (!equalBytes(rootFromLeaves(depth, opened, beside), roots.get(name)!)) return null
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

/** Takes bytes off, from the front; null where there are not so many. */
class Cursor {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  take(length: number): Uint8Array | null {
    if (length > this.left) return null
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}

/** How many tensors some steps write. */
export const countOutputs = (shaped: ShapedProgram['shaped']): number =>
  shaped.reduce((sum, { outputs }) => sum + outputs.length, 0)

/** The root over a whole trace: what the second draw is bound to. */
export const traceRoot = (roots: readonly Uint8Array[]): Uint8Array => rootOver(roots)

/** All roots of a trace from their bytes. */
export const splitRoots = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, i) => bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES))

export const joinRoots = (roots: readonly Uint8Array[]): Uint8Array => concatBytes(...roots)
