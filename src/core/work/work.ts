import { equalBytes } from '../bytes/bytes.ts'
import { fromHex } from '../bytes/hex.ts'
import type { Kind, Turn, Unit } from './kind.ts'
import {
  type Counted,
  neededOf,
  type Ops,
  operationsOf,
  type Program,
  type ShapedProgram,
  shapeProgram,
} from './program.ts'
import { requireThat } from './refusals.ts'
import { workIdOf } from './stateChain.ts'
import { outsideFault, type TensorShape, tensorBytes } from './tensor.ts'
import { decodeSpec, segmentEnds, type WorkSpec } from './workSpec.ts'

/** Kinds by name; what the parameters of each are is judged by its own schema. */
export type Kinds = Readonly<Record<string, Kind<unknown>>>

/** A work that was read and found fit to run: everything else follows from it. */
export interface Work<K> {
  readonly spec: WorkSpec
  readonly text: string
  readonly orderId: Uint8Array
  readonly seed: Uint8Array
  readonly workId: Uint8Array
  readonly ops: Ops<K>
  readonly isIndependent: boolean
  readonly guarantees: readonly string[]
  /** Which speed of a card bounds it; null: any. */
  readonly unit: Unit | null
  /** What the statistics of a mark are called. */
  readonly figures: readonly string[]
  /** Roots of what is handed in. */
  readonly givenRoots: ReadonlyMap<string, Uint8Array>
  readonly given: ReadonlyMap<string, TensorShape>
  /** What a checker has of it (`holdGiven`). */
  readonly held?: ReadonlyMap<string, Uint8Array>
  requireGiven(given: ReadonlyMap<string, Uint8Array>): void
  readonly state: ReadonlyMap<string, TensorShape>
  /** Ends of the segments; segment i ends with transition ends[i]. */
  readonly ends: readonly number[]
  /** Where transitions differ, which are counted and how often; null where the first stands for all. */
  readonly counted: readonly Counted[] | null
  begin(): ShapedProgram
  /** As a kind's: the first of the transitions that this one is like. */
  alike(number: number): number
  transition(number: number): ShapedProgram
  /** A transition as it would be with one sequence alone, and how many sequences it has; null where it has none. */
  alone(number: number): { readonly program: ShapedProgram; readonly sequences: number } | null
}

export interface WorkOrder {
  readonly text: string
  readonly orderId: Uint8Array
  readonly seed: Uint8Array
}

/** Reads a specification as whoever executes or checks it must: strictly, and before anything is made. */
export function openWork<K>(kinds: Kinds, ops: Ops<K>, { text, orderId, seed }: WorkOrder): Work<K> {
  const spec = decodeSpec(text)
  requireThat(Object.hasOwn(kinds, spec.kind), 'UNKNOWN_KIND', `"${spec.kind}"`)
  const kind = kinds[spec.kind]!
  const parsed = kind.parameters.safeParse(spec.parameters)
  requireThat(parsed.success, 'BAD_SPEC', `parameters.${parsed.error?.issues[0]?.path.join('.') ?? ''}`)
  const parameters: unknown = parsed.data
  kind.requireTransitions(parameters, spec.transitions)
  requireThat(
    spec.interval <= kind.maxInterval,
    'BAD_SPEC',
    `the interval of ${kind.name} is at most ${kind.maxInterval}`,
  )
  const given = kind.given(parameters)
  const names = spec.inputs.map(({ name }) => name)
  requireThat(
    names.length === given.size && names.every((name) => given.has(name)),
    'BAD_SPEC',
    `inputs must be ${[...given.keys()].join(', ') || 'none'}`,
  )
  let last: ShapedProgram | null = null
  let lastAlone: ShapedProgram | null = null
  const shape = (program: Program): ShapedProgram => {
    last = shapeProgram(ops, program, last)
    return last
  }
  const { transitions, interval } = spec
  const turn = (transition: number): Turn => ({
    transition,
    isCommitted: transition % interval === 0 || transition === transitions,
    seed,
  })
  return {
    ...{ spec, text, orderId, seed, ops, given, workId: workIdOf(text, orderId, seed) },
    ...{
      isIndependent: kind.isIndependent,
      guarantees: kind.guarantees,
      figures: kind.figures,
      unit: kind.unit ?? null,
    },
    ...{ state: kind.state(parameters), counted: kind.counted?.(parameters, transitions) ?? null },
    requireGiven: (tensors) => kind.requireGiven?.(tensors, parameters),
    givenRoots: new Map(spec.inputs.map(({ name, root }) => [name, fromHex(root, 32)!])),
    ends: segmentEnds(spec),
    begin: () => shape(kind.begin(parameters, seed)),
    alike: (number) => kind.alike?.(parameters, number) ?? number,
    transition: (number) => shape(kind.transition(parameters, turn(number))),
    alone(number) {
      const one = kind.alone?.(parameters)
      if (!one) return null
      lastAlone = shapeProgram(ops, kind.transition(one.parameters, turn(number)), lastAlone)
      return { program: lastAlone, sequences: one.sequences }
    },
  }
}

/** Throws a WorkRefusal where what is handed in is not what the specification names, or nothing to work with. */
export function requireGiven<K>(
  work: Work<K>,
  given: ReadonlyMap<string, Uint8Array>,
  rootOf: (shape: TensorShape, bytes: Uint8Array) => Uint8Array,
): void {
  for (const [name, shape] of work.given) {
    const bytes = given.get(name)
    requireThat(bytes !== undefined, 'BAD_INPUT', `${name} is missing`)
    requireThat(bytes.length === tensorBytes(shape), 'BAD_INPUT', `${name} has ${bytes.length} bytes`)
    const isNamed = equalBytes(rootOf(shape, bytes), work.givenRoots.get(name)!)
    requireThat(isNamed, 'BAD_INPUT', `${name} has another root than the specification names`)
    const held = outsideFault(shape.type, bytes)
    requireThat(held === null, 'BAD_INPUT', `${name} holds ${held}`)
  }
  work.requireGiven(given)
}

/** The work for a checker who has the inputs: patches that read all of one (`held`) can be recomputed. */
export function holdGiven<K>(
  work: Work<K>,
  given: ReadonlyMap<string, Uint8Array>,
  rootOf: (shape: TensorShape, bytes: Uint8Array) => Uint8Array,
): Work<K> {
  requireGiven(work, given, rootOf)
  return { ...work, held: given }
}

/** The programs of a segment, transition by transition; segment -1 is the beginning. */
export function segmentPrograms<K>(work: Work<K>, segment: number): readonly ShapedProgram[] {
  if (segment < 0) return [work.begin()]
  const from = segment === 0 ? 0 : work.ends[segment - 1]!
  return Array.from({ length: work.ends[segment]! - from }, (_, i) => work.transition(from + i + 1))
}

type Count = (program: ShapedProgram, times: number, asked?: number) => number

/** W3.6. Of all transitions: as many as the first has, and no more for the last than it has left to do (attack 159). */
function overTransitions<K>({ spec: { transitions }, transition, counted }: Work<K>, count: Count): number {
  if (counted) return counted.reduce((sum, [number, ...times]) => sum + count(transition(number), ...times), 0)
  const [each, last] = [1, transitions].map((number) => count(transition(number), 1)) as [number, number]
  return each * (transitions - 1) + Math.min(each, last)
}

/** By the definition of the work, all transitions. */
export const operationsOfWork = <K>(work: Work<K>): number =>
  overTransitions(work, (program, times) => times * operationsOf(work.ops, program))

/** W4.5. Those that are credited where all of it is live: no more than a state depends on (attack 436). */
export const neededOfWork = <K>(work: Work<K>): number =>
  Math.floor(overTransitions(work, (...counted) => neededOf(work.ops, ...counted)))
