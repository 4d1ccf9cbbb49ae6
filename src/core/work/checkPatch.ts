import { concatBytes, equalBytes } from '../bytes/bytes.ts'
import { Cursor } from './cursor.ts'
import type { PatchDraw } from './draws.ts'
import type { Patch } from './op.ts'
import type { ShapedProgram } from './program.ts'
import {
  ELEMENT_BYTES,
  isInside,
  leafSpan,
  leavesOf,
  leavesUnder,
  outsideFault,
  packRegion,
  type Region,
  rowBytes,
  type TensorShape,
} from './tensor.ts'
import { depthOf, proofBytes, rootOfLeaves } from './tensorTree.ts'
import type { RootOf } from './trace.ts'
import type { Work } from './work.ts'
import type { WorkProblem } from './workProblems.ts'

/** The bytes of a patch: the leaves of its tensors, and the hashes that lead from them to the roots. */
export interface PatchEvidence {
  readonly leaves: Uint8Array
  readonly proof: Uint8Array
}

/**
 * Opens leaves of a tensor, one tensor after the other, and hands out the bytes of those that are shown; null where it
 * cannot, or does not believe them.
 */
export type TakeLeaves = (
  name: string,
  shape: TensorShape,
  leaves: readonly number[],
  shown: readonly number[],
) => ((leaf: number) => Uint8Array) | null

/** All bytes of a tensor that was handed in; null where nobody has it here. */
type TakeHeld = (name: string) => Uint8Array | null

/** What a patch reads, packed: its inputs, each where those before it say. */
export interface GatheredPatch {
  readonly inputs: readonly Uint8Array[]
  /** Where the inputs lie; of several regions the first, with the rows of all. */
  readonly regions: readonly Region[]
}

/** Runs one step on gathered bytes; null where it makes something that is no number. */
export type RunPatch = (
  op: string,
  patch: Patch,
  step: ShapedProgram['shaped'][number],
  gathered: GatheredPatch,
) => readonly Uint8Array[] | null

/** Walks through the tensors that a patch reads, in the one order that device and checker share. */
export function gatherInputs(
  { steps, shapes }: ShapedProgram,
  step: number,
  patch: Patch,
  take: TakeLeaves,
  held: TakeHeld = () => null,
): GatheredPatch | null {
  const pack = (name: string, regions: readonly Region[]): Uint8Array | null => {
    const shape = shapes.get(name)!
    if (!regions.every((region) => isInside(region, shape))) return null
    const leaves = [...new Set(regions.flatMap((region) => leavesUnder(shape, region)))].sort((a, b) => a - b)
    const bytesOf = take(name, shape, leaves, leaves)
    return bytesOf && concatBytes(...regions.map((region) => packRegion(shape, region, bytesOf)))
  }
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
  return { inputs, regions }
}

/** W4.4.4. Everything that is shown of a patch: what it reads, then what lies beside it in the leaves that it writes. */
export function showPatch(
  program: ShapedProgram,
  step: number,
  patch: Patch,
  take: TakeLeaves,
  held: TakeHeld = () => null,
): void {
  gatherInputs(program, step, patch, take, held)
  for (const [i, name] of program.steps[step]!.outputs.entries()) {
    const shape = program.shapes.get(name)!
    const leaves = leavesUnder(shape, patch.outputs[i]!)
    take(
      name,
      shape,
      leaves,
      leaves.filter((leaf) => !isMade(shape, patch.outputs[i]!, leaf)),
    )
  }
}

/** Whether a leaf that holds a part of a region lies wholly in it: whoever recomputes the region has all of it. */
function isMade(shape: TensorShape, { column, columns }: Region, leaf: number): boolean {
  const { from, to } = columnsOf(shape, leaf)
  return from >= column && to <= column + columns
}

function columnsOf(
  shape: TensorShape,
  leaf: number,
): { readonly row: number; readonly from: number; readonly to: number } {
  const { start, length } = leafSpan(shape, leaf)
  const [bytes, size] = [rowBytes(shape), ELEMENT_BYTES[shape.type]]
  const from = (start % bytes) / size
  return { row: Math.floor(start / bytes), from, to: from + length / size }
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
  const { op, inputs, outputs } = program.steps[step]!
  const shaped = program.shaped[step]!
  const patch = ops[op]!.patch(shaped, index)
  if (patch.inputs.some((where, i) => where === 'held' && !held?.has(inputs[i]!))) return 'INPUT_NOT_HELD'
  const shown = new ShownLeaves(leaves, proof)
  const take: TakeLeaves = (name, shape, asked) => {
    const found = shown.bytesOf(shape, asked)
    return found && shown.leadTo(shape, found, rootOf(transition, name)) ? (leaf) => found.get(leaf)! : null
  }
  const gathered = gatherInputs(program, step, patch, take, (name) => held?.get(name) ?? null)
  if (!gathered) return 'PATCH_NOT_COMMITTED'
  const isFaulty = (name: string, i: number) =>
    givenRoots.has(name) && outsideFault(shaped.inputs[i]!.type, gathered.inputs[i]!) !== null
  if (inputs.some(isFaulty)) return 'INPUT_FAULT'
  const made = runPatch(op, patch, shaped, gathered)
  if (!made) return 'PATCH_WRONG'
  for (const [i, name] of outputs.entries()) {
    const problem = shown.problemWith(shaped.outputs[i]!, patch.outputs[i]!, made[i]!, rootOf(transition, name))
    if (problem) return problem
  }
  return shown.areLeft ? 'PATCH_SIZE' : null
}

/** The evidence of a patch, taken off tensor by tensor. */
class ShownLeaves {
  readonly #bytes: Cursor
  readonly #hashes: Cursor

  constructor(leaves: Uint8Array, proof: Uint8Array) {
    this.#bytes = new Cursor(leaves)
    this.#hashes = new Cursor(proof)
  }

  get areLeft(): boolean {
    return this.#bytes.left + this.#hashes.left > 0
  }

  bytesOf(shape: TensorShape, leaves: readonly number[]): Map<number, Uint8Array> | null {
    const found = new Map<number, Uint8Array>()
    for (const leaf of leaves) {
      const bytes = this.#bytes.take(leafSpan(shape, leaf).length)
      if (!bytes) return null
      found.set(leaf, bytes)
    }
    return found
  }

  leadTo(shape: TensorShape, leaves: ReadonlyMap<number, Uint8Array>, root: Uint8Array): boolean {
    const beside = this.#hashes.take(proofBytes(depthOf(leavesOf(shape)), [...leaves.keys()]))
    return beside !== null && equalBytes(rootOfLeaves(shape, leaves, beside), root)
  }

  /** Of an output: leaves that a patch makes whole are those that were made here; in the others its part must be. */
  problemWith(shape: TensorShape, region: Region, made: Uint8Array, root: Uint8Array): WorkProblem['code'] | null {
    const size = ELEMENT_BYTES[shape.type]
    const asked = leavesUnder(shape, region)
    const shown = this.bytesOf(
      shape,
      asked.filter((leaf) => !isMade(shape, region, leaf)),
    )
    if (!shown) return 'PATCH_NOT_COMMITTED'
    const partOf = (leaf: number, from: number, to: number) => {
      const { row } = columnsOf(shape, leaf)
      const at = (row - region.row) * region.columns - region.column
      return made.subarray((at + from) * size, (at + to) * size)
    }
    const whole = (leaf: number) => {
      const { from, to } = columnsOf(shape, leaf)
      return partOf(leaf, from, to)
    }
    const leaves = new Map(asked.map((leaf) => [leaf, shown.get(leaf) ?? whole(leaf)]))
    if (!this.leadTo(shape, leaves, root)) return shown.size < asked.length ? 'PATCH_WRONG' : 'PATCH_NOT_COMMITTED'
    const isRight = [...shown].every(([leaf, bytes]) => {
      const { from, to } = columnsOf(shape, leaf)
      const [first, last] = [Math.max(from, region.column), Math.min(to, region.column + region.columns)]
      return equalBytes(bytes.subarray((first - from) * size, (last - from) * size), partOf(leaf, first, last))
    })
    return isRight ? null : 'PATCH_WRONG'
  }
}
