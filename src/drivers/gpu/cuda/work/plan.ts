import type { ShapedProgram } from '../../../../core/work/program.ts'
import type { Fused, Match, Phased } from './fused.ts'
import { matchAttention } from './fusedAttention.ts'
import { COLUMN_MATCHES } from './fusedColumns.ts'
import { INFERENCE_MATCHES } from './fusedInference.ts'
import { OPTIMISER_MATCHES } from './fusedOptimiser.ts'
import { ROW_MATCHES } from './fusedRows.ts'
import { Graph, type Node } from './graph.ts'
import { joinPhases, type Planned } from './phases.ts'

const { quantiseRows, normBackwardAdd, geluBack, dequantiseThen } = ROW_MATCHES
const { turnChance, normGain, columnSums } = COLUMN_MATCHES
/** In the order they are tried: what covers more comes first. */
const MATCHES: readonly Match[] = [
  ...[quantiseRows, turnChance, normGain, columnSums, normBackwardAdd, geluBack, dequantiseThen],
  ...Object.values(OPTIMISER_MATCHES),
]

/** One step, or several as one; in an order in which everything is there when it is read. */
export interface Action extends Planned<Fused | null> {
  /** What nothing reads afterwards. */
  readonly free: readonly string[]
}

/** How a program is run. Fused, tensors that only fused steps read are never made; else every step stands alone. */
export function planProgram(
  program: ShapedProgram,
  isFused: boolean,
  states: ReadonlySet<string> = new Set(),
): readonly Action[] {
  const graph = new Graph(program, states)
  const found = isFused ? fusedIn(graph) : []
  return withFrees(program, joinPhases(ordered(graph, found)))
}

/** A plan of a program with the same shapes, for this one. */
export function planAgain(actions: readonly Action[], { steps, shaped }: ShapedProgram): readonly Action[] {
  for (const { nodes } of actions)
    for (const node of nodes) {
      node.numbers = steps[node.at]!.numbers
      node.shaped = shaped[node.at]!
    }
  return actions
}

function fusedIn(graph: Graph): readonly (Fused | Phased)[] {
  const taken = new Set<Node>()
  const found: (Fused | Phased)[] = []
  const take = (fused: Fused | Phased) => {
    if (fused.covers.some((node) => taken.has(node))) return
    for (const node of fused.covers) taken.add(node)
    found.push(fused)
  }
  const takeAll = (match: (graph: Graph, node: Node) => Fused | Phased | null) => {
    for (const node of graph.nodes) {
      const fused = taken.has(node) ? null : match(graph, node)
      if (fused) take(fused)
    }
  }
  INFERENCE_MATCHES.forEach(takeAll)
  for (const node of graph.nodes) for (const fused of matchAttention(graph, node)) take(fused)
  MATCHES.forEach(takeAll)
  return found
}

type Unordered = Planned<Fused | Phased | null>

function actionOf(graph: Graph, nodes: readonly Node[], fused: Fused | Phased | null): Unordered {
  const made = nodes.flatMap(({ outputs }) => outputs)
  const read = [...nodes.flatMap((node) => node.inputs), ...(fused?.reads ?? [])]
  const inputs = [...new Set(read)].filter((name) => !made.includes(name) && !fused?.never?.includes(name))
  const isMade = (name: string) => !fused || fused.writes?.includes(name) || !graph.isInner(name, nodes)
  const reused = fused?.reuses?.map(([, to]) => to) ?? []
  const isNew = (name: string) => !fused?.never?.includes(name) && !reused.includes(name) && isMade(name)
  return { nodes, fused, inputs, outputs: made.filter(isNew) }
}

/** As the steps come, what a fused one needs before it. */
function ordered(graph: Graph, found: readonly (Fused | Phased)[]): readonly Unordered[] {
  const byNode = new Map<Node, Unordered>()
  for (const fused of found) {
    const action = actionOf(graph, fused.covers, fused)
    for (const node of fused.covers) byNode.set(node, action)
  }
  const done = new Set<Unordered>()
  const begun = new Set<Unordered>()
  const actions: Unordered[] = []
  const add = (node: Node): void => {
    const action = byNode.get(node) ?? actionOf(graph, [node], null)
    byNode.set(node, action)
    if (done.has(action)) return
    if (begun.has(action)) throw new RangeError(`step ${node.at} (${node.op}) waits for itself`)
    begun.add(action)
    for (const name of action.inputs) {
      const maker = graph.maker(name)
      if (maker) add(maker)
    }
    done.add(action)
    actions.push(action)
  }
  for (const node of graph.nodes) add(node)
  return actions
}

function withFrees(
  { after, statistics, there }: ShapedProgram,
  actions: readonly Planned<Fused | null>[],
): readonly Action[] {
  const kept = new Set([...after, ...statistics, ...there.keys()])
  const last = new Map<string, number>()
  for (const [at, { inputs, outputs }] of actions.entries())
    for (const name of [...inputs, ...outputs]) last.set(name, at)
  const free: string[][] = actions.map(() => [])
  for (const [name, at] of last) if (!kept.has(name)) free[at]!.push(name)
  return actions.map((action, at) => ({ ...action, free: free[at]! }))
}
