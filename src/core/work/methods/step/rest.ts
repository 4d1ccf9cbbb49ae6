import { ascii, concatBytes, joinBytes, u64le } from '../../../bytes/bytes.ts'
import { sha256, taggedHash } from '../../../bytes/sha256.ts'
import type { GatheredPatch } from '../../checkPatch.ts'
import type { PatchDraw } from '../../draws.ts'
import type { Patch } from '../../op.ts'
import type { Ops } from '../../program.ts'
import { drawBelow } from '../../stateChain.ts'
import { ELEMENT_BYTES, isInside, leavesUnder, packRegion, type Region, type TensorShape } from '../../tensor.ts'
import type { RestPlan } from './restPlan.ts'
import type { Reveal } from './stepLayout.ts'

/** W12.3.3. So many sequences are run again. */
export const DRAWN_SEQUENCES = 2
/** So many rows of every tied tensor are compared with what each of them makes: other rows for each. */
export const TIED_ROWS = 4

/** W12.3.3. What a nonce asks for. */
export interface RestDraws {
  readonly sequences: readonly number[]
  readonly patches: readonly PatchDraw[]
  readonly ties: readonly Tie[]
}

/** Rows of a tied tensor, ascending, of which the columns of a drawn sequence are opened. */
export interface Tie {
  readonly name: string
  readonly sequence: number
  readonly rows: readonly number[]
}

/** W12.3.3. Bound to everything that was said before the nonce came. */
export const restSeed = (said: Uint8Array, nonce: Uint8Array): Uint8Array => taggedHash('tsw1/step-draw', said, nonce)

function drawDistinct(seed: Uint8Array, what: string, wanted: number, below: number): readonly number[] {
  const drawn = new Set<number>()
  for (let i = 0; drawn.size < Math.min(wanted, below); i++) drawn.add(drawBelow(seed, what, i, below))
  return [...drawn].sort((a, b) => a - b)
}

export function drawRest<K>(ops: Ops<K>, { count, whole, tied, rest }: RestPlan, seed: Uint8Array): RestDraws {
  const sequences = drawDistinct(seed, 'sequence', DRAWN_SEQUENCES, count)
  const tiedRows = (name: string, at: number) =>
    drawDistinct(seed, `tie ${at} ${name}`, TIED_ROWS, whole.shapes.get(name)!.rows)
  return {
    sequences,
    patches: rest.steps.map(({ op }, step) => {
      const patch = drawBelow(seed, 'patch', step, ops[op]!.patches(rest.shaped[step]!))
      return { transition: 0, step, patch }
    }),
    ties: tied.flatMap((name) => sequences.map((sequence, at) => ({ name, sequence, rows: tiedRows(name, at) }))),
  }
}

/** The rows of a kept tensor that belong to a sequence. */
export function rowsOfSequence({ kept, count }: RestPlan, name: string, sequence: number): Reveal {
  const rows = kept.get(name)!.shape.rows / count
  return { name, row: sequence * rows, rows }
}

/** W12.3.3. Rows of kept tensors in the clear: those of drawn sequences, and those that drawn patches touch. */
export function revealsOf<K>(ops: Ops<K>, plan: RestPlan, { sequences, patches }: RestDraws): readonly Reveal[] {
  const ofSequences = [...plan.kept.keys()].filter((name) => plan.lies.get(name) !== 'shared')
  const { steps, shaped } = plan.rest
  const ofPatches = patches.flatMap(({ step, patch: index }) => {
    const { op, inputs, outputs } = steps[step]!
    const patch = ops[op]!.patch(shaped[step]!, index)
    const regions = [...patch.outputs, ...patch.inputs]
    return [...outputs, ...inputs].flatMap((name, i): readonly Reveal[] => {
      const own = plan.kept.has(name) ? regionsOf(regions[i]!) : []
      return own.map(({ row, rows }) => ({ name, row, rows }))
    })
  })
  return [...sequences.flatMap((one) => ofSequences.map((name) => rowsOfSequence(plan, name, one))), ...ofPatches]
}

/** Patches of steps that sequences have together name their regions; none looks one up, or takes all of an input. */
export const regionsOf = (where: Patch['inputs'][number]): readonly Region[] =>
  [where].flat().map((region) => {
    if (typeof region !== 'object') throw new RangeError('a patch without a region of its own')
    return region
  })

/** Hands out the bytes of leaves of a tensor; null where it cannot, or does not believe them. */
type TakeLeaves = (name: string, shape: TensorShape, leaves: readonly number[]) => ((leaf: number) => Uint8Array) | null

/** What is opened of tensors with trees and of given ones: written by whoever proves, read and believed by whoever checks. */
export interface Openings {
  readonly leaves: TakeLeaves
  /** All of a tensor with a tree. */
  whole(name: string, shape: TensorShape): Uint8Array | null
}

const wordsOf = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.slice().buffer)

/** Rows of a tensor by their numbers, opened together. */
export function openRows(
  { leaves }: Openings,
  name: string,
  shape: TensorShape,
  rows: readonly number[],
): ((row: number) => Uint8Array) | null {
  const regionOf = (row: number) => ({ row, rows: 1, column: 0, columns: shape.width })
  const ascending = [...new Set(rows)].sort((a, b) => a - b)
  if (!ascending.every((row) => isInside(regionOf(row), shape))) return null
  const bytesOf = leaves(
    name,
    shape,
    ascending.flatMap((row) => leavesUnder(shape, regionOf(row))),
  )
  return bytesOf && ((row) => packRegion(shape, regionOf(row), bytesOf))
}

/** Tensors of the one sequence or of all, by name. */
export type Tensors = ReadonlyMap<string, Uint8Array>

/** W12.3.4. What replays read of what sequences have together: vectors whole, and of tables the rows that they look up. */
export function openShared(
  { whole, count, vectors, tables }: RestPlan,
  sequences: readonly number[],
  known: Tensors,
  openings: Openings,
): Tensors | null {
  const found = new Map<string, Uint8Array>()
  for (const name of vectors) {
    const bytes = openings.whole(name, whole.shapes.get(name)!)
    if (!bytes) return null
    found.set(name, bytes)
  }
  for (const { name, by } of tables) {
    const shape = whole.shapes.get(name)!
    const places = wordsOf(known.get(by)!)
    const each = places.length / count
    const rows = sequences.flatMap((one) => [...places.subarray(one * each, (one + 1) * each)])
    const rowOf = openRows(openings, name, shape, rows)
    if (!rowOf) return null
    const width = shape.width * ELEMENT_BYTES[shape.type]
    const table = found.get(name) ?? new Uint8Array(shape.rows * width)
    for (const row of new Set(rows)) table.set(rowOf(row), row * width)
    found.set(name, table)
  }
  return found
}

/** W12.3.6. The columns of a drawn sequence in drawn rows of a tied tensor. */
export const tieKey = (name: string, sequence: number, row: number): string => `${name} ${sequence} ${row}`

export function openTies(
  { whole, one, tied }: RestPlan,
  { ties }: RestDraws,
  openings: Openings,
): ReadonlyMap<string, Uint8Array> | null {
  const found = new Map<string, Uint8Array>()
  for (const name of tied) {
    const shape = whole.shapes.get(name)!
    const columns = one.shapes.get(name)!.width
    const regions = ties
      .filter((tie) => tie.name === name)
      .flatMap(({ sequence, rows }) =>
        rows.map((row) => ({ sequence, region: { row, rows: 1, column: sequence * columns, columns } })),
      )
    const leaves = new Set(regions.flatMap(({ region }) => leavesUnder(shape, region)))
    const bytesOf = openings.leaves(
      name,
      shape,
      [...leaves].sort((a, b) => a - b),
    )
    if (!bytesOf) return null
    for (const { sequence, region } of regions)
      found.set(tieKey(name, sequence, region.row), packRegion(shape, region, bytesOf))
  }
  return found
}

/** What a patch reads, and what was written. */
interface TouchedPatch {
  readonly patch: Patch
  readonly read: GatheredPatch
  readonly written: readonly Uint8Array[]
}

/** A region of a tensor that is not opened under a root, packed. */
export type TakeHeld = (name: string, region: Region) => Uint8Array

/** What a patch touches: trees by their openings, everything else from `held`. */
export function touchPatch<K>(
  ops: Ops<K>,
  { rest, kept, isKnown, vectors }: RestPlan,
  { step, patch: index }: PatchDraw,
  openings: Openings,
  held: TakeHeld,
): TouchedPatch | null {
  const { op, inputs, outputs } = rest.steps[step]!
  const patch = ops[op]!.patch(rest.shaped[step]!, index)
  const take = (name: string, regions: readonly Region[]): Uint8Array | null => {
    if (kept.has(name) || isKnown.has(name) || vectors.has(name))
      return concatBytes(...regions.map((region) => held(name, region)))
    const shape = rest.shapes.get(name)!
    const leaves = new Set(regions.flatMap((region) => leavesUnder(shape, region)))
    const bytesOf = openings.leaves(
      name,
      shape,
      [...leaves].sort((a, b) => a - b),
    )
    return bytesOf && concatBytes(...regions.map((region) => packRegion(shape, region, bytesOf)))
  }
  const regions = patch.inputs.map(regionsOf)
  const read = inputs.map((name, i) => take(name, regions[i]!))
  const written = outputs.map((name, i) => take(name, [patch.outputs[i]!]))
  if ([...read, ...written].includes(null)) return null
  const whole = regions.map((of) => ({ ...of[0]!, rows: of.reduce((sum, { rows }) => sum + rows, 0) }))
  return { patch, read: { inputs: read as Uint8Array[], regions: whole }, written: written as Uint8Array[] }
}

/** W12.3.3. What is said of a transition before its nonce comes. */
export interface SaidStep {
  /** Of the matrix of everything that is kept. */
  readonly root: Uint8Array
  /** Of every tensor with a tree, in the order of the plan. */
  readonly roots: readonly Uint8Array[]
}

/** W12.3.8. What was drawn of it. */
export interface TransitionProof {
  /** What is opened under roots. */
  readonly rest: Uint8Array
  /** The proof of all products, and rows of the matrix. */
  readonly products: Uint8Array
}

/** What was committed before a transition and after it. */
interface SaidEnds {
  readonly before: Uint8Array
  readonly after: { readonly root: Uint8Array; readonly statistics: readonly number[] }
}

/** W12.5.3. What the second draw of a work is bound to. */
export const saidHash = (said: SaidStep, ends: SaidEnds): Uint8Array => sha256(spellSaid(said, ends))

/** Roots before and after, and everything that was said, in one spelling. */
export const spellSaid = ({ root, roots }: SaidStep, ends: SaidEnds): Uint8Array =>
  joinBytes([
    ...[ascii('tsw1/said'), ends.before, ends.after.root, root],
    ...ends.after.statistics.map((bits) => u64le(bits)),
    ...roots,
  ])
