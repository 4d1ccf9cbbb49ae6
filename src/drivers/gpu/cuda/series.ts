import { concatBytes } from '../../../core/bytes/bytes.ts'
import { seriesSeeds } from '../../../core/proof/seeds.ts'
import type { LeafPosition, SeriesTask } from '../../../ports/device.ts'
import { tilesOf } from '../tasks.ts'
import type { CardTools } from './cardTools.ts'
import { type PathRequest, readPaths } from './paths.ts'
import { type OnRoots, replayGraph } from './replay.ts'
import type { RoundPlan } from './roundPlan.ts'
import { groupOf, nodesOf } from './shape.ts'
import { Stop } from './stop.ts'

/** A finished series and what its openings need. */
export type DoneSeries = ReturnType<typeof runSeries>

/** Rounds in flight: about 20 ms of work on a fast card, at least two so that none waits for the host. */
export const roundsAhead = ({ m, n, k }: { m: number; n: number; k: number }): number =>
  Math.min(64, Math.max(2, Math.ceil(1e13 / (2 * m * n * k))))

export function runSeries(
  tools: CardTools,
  plan: RoundPlan,
  task: Pick<SeriesTask, 'seed' | 'rounds'>,
  onRoots: OnRoots,
  stop: Stop,
) {
  plan.window.start(plan.state, task.seed)
  const replay = { graph: plan.graph, window: plan.window, times: task.rounds, ahead: roundsAhead(plan.shape) }
  return { plan, seed: task.seed, roots: replayGraph(tools, replay, onRoots, stop) }
}

/** §5 paths. Rounds whose fingerprints were not kept are computed again, each once. */
export function openSeries(tools: CardTools, series: DoneSeries, asked: readonly LeafPosition[]): Uint8Array {
  const { plan } = series
  if (plan.slots > 1 || plan.shape.rounds === 1)
    return readPaths(
      tools,
      asked.map(({ round, tile }) => roundRequest(plan, plan.slots > 1 ? round : 0, tile)),
    )
  const seeds = seriesSeeds(series.seed, series.roots)
  const paths = new Map<LeafPosition, Uint8Array>()
  for (const round of new Set(asked.map((position) => position.round))) {
    plan.window.start(plan.state, seeds[round]!)
    replayGraph(tools, { graph: plan.graph, window: plan.window, times: 1, ahead: 1 }, () => {}, new Stop())
    for (const position of asked.filter((one) => one.round === round))
      paths.set(position, readPaths(tools, [roundRequest(plan, 0, position.tile)]))
  }
  return concatBytes(...asked.map((position) => paths.get(position)!))
}

/** The path of a tile in the tree of the round kept in `slot`. */
export function roundRequest(plan: RoundPlan, slot: number, tile: number): PathRequest {
  const tiles = tilesOf(plan.shape)
  const unit = groupOf(plan.shape)
  const units = nodesOf(plan.shape)
  const index = Math.floor(tile / unit)
  return {
    prints: plan.prints + BigInt(16 * (slot * tiles + index * unit)),
    firstLeaf: index * unit,
    nodes: plan.nodes + BigInt(32 * slot * units),
    unit,
    inUnit: tile % unit,
    count: units,
    index,
  }
}
