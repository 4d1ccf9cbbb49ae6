import { concatBytes, equalBytes, u32le } from '../bytes/bytes.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import { checkPatch, type PatchEvidence, type RunPatch } from './checkPatch.ts'
import type { PatchDraw } from './draws.ts'
import type { ShapedProgram } from './program.ts'
import { stateRoot } from './stateChain.ts'
import { tensorRoot } from './tensorTree.ts'
import { placeRoots, type RootOf, readTrace, rootsBy, type TracedSegment } from './trace.ts'
import type { Work } from './work.ts'
import type { WorkProblem } from './workProblems.ts'

/** What a receipt shows of a segment that was run again with trace. */
export interface SegmentEvidence {
  /** Over the roots of its steps. */
  readonly stepsRoot: Uint8Array
  /** Roots of the tensors that are opened, and the hashes that lead from them to what was committed. */
  readonly trace: Uint8Array
  readonly patches: readonly PatchEvidence[]
}

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
export function areFigures(programs: readonly ShapedProgram[], rootOf: RootOf, said: readonly number[]): boolean {
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

/** All roots of a trace from their bytes. */
export const splitRoots = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, i) => bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES))
