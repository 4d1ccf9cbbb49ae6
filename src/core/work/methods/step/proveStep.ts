import { concatBytes, words32 } from '../../../bytes/bytes.ts'
import { HASH_BYTES } from '../../../proof/merkle.ts'
import type { Tree } from '../../engineRun.ts'
import { type StateMark, stateRoot } from '../../stateChain.ts'
import { leafSpan, type TensorShape } from '../../tensor.ts'
import type { TensorMemory } from '../../tensorMemory.ts'
import type { Work } from '../../work.ts'
import { type ExactEngine, proveIn, treeBytes, treeInPlace } from '../../workEngine.ts'
import type { WorkKernels } from '../../workKernels.ts'
import {
  drawRest,
  type Openings,
  openRows,
  openShared,
  openTies,
  restSeed,
  revealsOf,
  type SaidStep,
  spellSaid,
  type TransitionProof,
  touchPatch,
} from './rest.ts'
import { isLookup, type RestPlan } from './restPlan.ts'
import { commitStep, proveCommittedStep } from './stepProof.ts'
import type { StepEngine } from './stepRooms.ts'

/** Where a transition is run, and where what is kept of it is coded: each with a memory of its own. */
export interface ProverEngines {
  readonly exact: ExactEngine
  readonly step: StepEngine
}

/** A transition that was run and committed to; it waits for the nonce of whoever listens. */
export interface CommittedTransition {
  readonly said: SaidStep
  readonly before: Uint8Array
  readonly after: StateMark
  /** W12.3. Can be asked once: answers to several nonces show what the first was not to show. */
  prove(nonce: Uint8Array): TransitionProof
  /** Puts away everything but the state after it, which takes the names of the one before, with its trees. */
  end(): void
}

const treeOf = (name: string): string => `${name}/tree`

/**
 * W12.3. Runs a transition over a memory that holds the state before it and what is given, and commits to it. Everything
 * that may be opened stays in that memory. `givenTrees` are made once for a work.
 */
export function commitTransition(
  engines: ProverEngines,
  work: Work<WorkKernels>,
  plan: RestPlan,
  memory: TensorMemory<WorkKernels>,
  givenTrees: ReadonlyMap<string, Tree>,
): CommittedTransition {
  const { ops } = work
  const { transition } = plan
  const { program } = plan.products
  const after = [...new Set([...program.after, ...plan.trees, ...plan.isKnown])]
  const kept = { ...plan.products, program: { ...program, after } }
  const committed = commitStep(engines.step, ops, memory, kept)
  const roots = new Map(plan.trees.map((name) => [name, hashTree(engines.exact, memory, name)]))
  const rootsOf = (names: Iterable<string>) => stateRoot([...names].map((name) => roots.get(name)!))
  const statistics = program.statistics.flatMap((name) => [...words32(memory.bytes(name).slice())])
  const ends = { before: rootsOf(work.state.keys()), after: { transition, root: rootsOf(program.after), statistics } }
  const said = { root: committed.root, roots: [...roots.values()] }
  return {
    ...{ said, ...ends },
    prove(nonce) {
      const spelled = spellSaid(said, ends)
      const draws = drawRest(ops, plan, restSeed(spelled, nonce))
      const rest = openRest(work, plan, draws, memory, givenTrees)
      const more = concatBytes(spelled, nonce)
      const statement = { workId: work.workId, transition, root: said.root, more }
      const products = proveCommittedStep(committed, statement, revealsOf(ops, plan, draws))
      return { rest, products }
    },
    end: () => endStep(memory, [...work.state.keys()], program.after, after),
  }
}

/** The root of a tensor; the tree of what was there before this transition may be there already. */
function hashTree(engine: ExactEngine, memory: TensorMemory<WorkKernels>, name: string): Uint8Array {
  const place = memory.place(name)
  const isThere = memory.has(treeOf(name))
  const to = isThere ? memory.place(treeOf(name)) : memory.make(treeOf(name), treeShape(place.shape))
  if (!isThere) treeInPlace(engine, place, to.at)
  return memory.bytes(treeOf(name)).slice(-HASH_BYTES)
}

const treeShape = (shape: TensorShape): TensorShape => ({ type: 'u8', rows: 1, width: treeBytes(shape) })

function endStep(
  memory: TensorMemory<WorkKernels>,
  state: readonly string[],
  next: readonly string[],
  made: readonly string[],
): void {
  const free = (name: string) => {
    for (const each of [name, treeOf(name)]) if (memory.has(each)) memory.free(each)
  }
  const stays = new Set(next)
  for (const name of [...state, ...made]) if (!stays.has(name)) free(name)
  for (const [i, name] of next.entries())
    for (const of of [(each: string) => each, treeOf]) if (name !== state[i]) memory.rename(of(name), of(state[i]!))
}

/** Everything that the draws ask of trees, in the order in which it is read. */
function openRest(
  { ops, given }: Work<WorkKernels>,
  plan: RestPlan,
  draws: ReturnType<typeof drawRest>,
  memory: TensorMemory<WorkKernels>,
  givenTrees: ReadonlyMap<string, Tree>,
): Uint8Array {
  const parts: Uint8Array[] = []
  const leafOf = (name: string, shape: TensorShape) => (leaf: number) => {
    const { start, length } = leafSpan(shape, leaf)
    return memory.bytes(name).subarray(start, start + length)
  }
  const openings: Openings = {
    leaves(name, shape, asked) {
      const beside = givenTrees.get(name)?.prove(asked) ?? proveIn(shape, memory.bytes(treeOf(name)), asked)
      parts.push(...asked.map((leaf) => leafOf(name, shape)(leaf).slice()), beside)
      return leafOf(name, shape)
    },
    whole(name) {
      parts.push(memory.bytes(name).slice())
      return parts.at(-1)!
    },
  }
  const known = new Map([...plan.isKnown].map((name) => [name, memory.bytes(name)]))
  for (const at of plan.known) {
    const step = plan.whole.steps[at]!
    const [by, table] = step.inputs
    if (isLookup(step, (name) => given.has(name)))
      openRows(openings, table!, given.get(table!)!, [...words32(known.get(by!)!)])
  }
  openShared(plan, draws.sequences, known, openings)
  openTies(plan, draws, openings)
  // What is not opened under a root is read by nothing here.
  const blank = () => new Uint8Array()
  for (const draw of draws.patches) touchPatch(ops, plan, draw, openings, blank)
  return concatBytes(...parts)
}
