import { concatBytes, u32le } from '../../../core/bytes/bytes.ts'
import { JointPasses } from '../../../core/proof/jointPasses.ts'
import { passWords } from '../../../core/proof/seeds.ts'
import type { LeafPosition } from '../../../ports/device.ts'
import { paddedRounds, tilesOf } from '../tasks.ts'
import type { CardTools } from './cardTools.ts'
import { thenClose } from './closeAll.ts'
import type { Handle } from './loadLibcuda.ts'
import { type PathRequest, readPaths } from './paths.ts'
import { type OnRoots, ROUND_OFFSET, RootWindow, replayGraph, STATE_BYTES } from './replay.ts'
import { type DoneSeries, roundRequest } from './series.ts'
import { FOLD_THREADS, foldWidths, UNIT, unitOf, unitsOf } from './shape.ts'
import { type Stop, stopped } from './stop.ts'

/** A fill as a neighbour sees it: where it lies and how many tiles it holds. */
export type FillPlace = ReturnType<typeof placeOf>

/** A fill on this card: the series that made it and where it lies. */
export interface HeldFill {
  readonly series: DoneSeries
  readonly kept: Handle
  readonly rounds: number
}

export type DonePasses = ReturnType<typeof runPasses>

const totalTiles = ({ series, rounds }: HeldFill): number => tilesOf(series.plan.shape) * rounds
/** memory.cu: a block of ts_fold_many folds the groups of 16 full units. */
const UNITS_A_FOLD = 16
const isWide = (fill: HeldFill): boolean => totalTiles(fill) % (UNIT * UNITS_A_FOLD) === 0

export function placeOf(tools: CardTools, fill: HeldFill) {
  return { context: tools.context, ordinal: tools.ordinal, kept: fill.kept, tiles: totalTiles(fill) }
}

/** Passes that follow from those of other cards too, by the memory that their threads share. */
export interface SharedPasses {
  readonly place: number
  readonly devices: number
  readonly shared: SharedArrayBuffer
}

interface PassRequest {
  readonly fill: HeldFill
  readonly partners: FillPlace
  readonly passes: number
  readonly start: Uint8Array
  readonly joint?: SharedPasses | null
}

/** §7: P linked passes, each captured once and replayed; `partners` is the own fill, or a neighbour's (§8 link). */
export function runPasses(tools: CardTools, task: PassRequest, onRoots: OnRoots, stop: Stop) {
  const { api, buffers, context, stream } = tools
  const { fill, partners } = task
  if (partners.context !== context) api.enablePeer(partners.context)
  const tiles = tilesOf(fill.series.plan.shape)
  const nodes = buffers.take('passNodes', task.passes * fill.rounds * unitsOf(tiles) * 32)
  const groups = isWide(fill) ? buffers.take('passGroups', (totalTiles(fill) / 8) * 32) : 0n
  const state = buffers.take('state', STATE_BYTES)
  const roots = buffers.take('passRoots', scratchHashes(fill) * 32)
  api.zero(roots, paddedRounds(fill.rounds) * 32)
  const window = new RootWindow(api, task.passes)
  let graph: Handle | null = null
  const run = () => {
    window.start(state, task.start)
    tools.kernels.get('memory', 'ts_finish_pass')
    api.beginCapture(stream)
    launchPass(tools, { fill, partners, state, nodes, groups, roots })
    graph = api.endCapture(stream)
    if (task.joint) return replayJointly(tools, { graph, window, state }, { ...task, joint: task.joint }, onRoots, stop)
    return passWords(task.start, replayGraph(tools, { graph, window, times: task.passes, ahead: 2 }, onRoots, stop))
  }
  // Z_0 … Z_(P-1), for units that are read again.
  const words: readonly Uint8Array[] = thenClose(run, () => [
    () => graph !== null && api.destroyGraph(graph),
    () => window.close(),
  ])
  return { fill, partners, nodes, words }
}

const WAIT_MS = 5

/**
 * One pass at a time: the card goes on from its own root alone, so the word of the next pass is written over that. What a
 * card waits for is the slowest of all; between two passes it is a launch and 32 bytes.
 */
function replayJointly(
  tools: CardTools,
  { state, ...captured }: { readonly graph: Handle; readonly window: RootWindow; readonly state: Handle },
  { passes, start, joint }: Pick<PassRequest, 'passes' | 'start'> & { readonly joint: SharedPasses },
  onRoots: OnRoots,
  stop: Stop,
): readonly Uint8Array[] {
  const all = new JointPasses(joint.devices, joint.shared)
  const words = [start]
  for (let pass = 0; pass < passes; pass++) {
    const [root] = replayGraph(tools, { ...captured, from: pass, times: pass + 1, ahead: 1 }, onRoots, stop).slice(pass)
    all.put(joint.place, pass, root!)
    if (pass === passes - 1) break
    while (!all.waitFor(pass, WAIT_MS)) if (stop.requested) throw stopped(tools.ordinal)
    words.push(all.next(words[pass]!, pass))
    tools.api.upload(state, words[pass + 1]!)
  }
  return words
}

interface PassMemory {
  readonly fill: HeldFill
  readonly partners: FillPlace
  readonly state: Handle
  readonly nodes: Handle
  /** Nodes of eight leaves each, on their way to those of units; none for small fills. */
  readonly groups: Handle
  readonly roots: Handle
}

/** Hashes kept beside the padded roots while they are folded: one round of folding a launch, never more than the first. */
function scratchHashes(fill: HeldFill): number {
  const units = unitsOf(tilesOf(fill.series.plan.shape))
  return paddedRounds(fill.rounds) * 3 + fill.rounds * units
}

function launchPass(tools: CardTools, { fill, partners, state, nodes, groups, roots }: PassMemory): void {
  const { launch, kernels } = tools
  const tiles = tilesOf(fill.series.plan.shape)
  const units = fill.rounds * unitsOf(tiles)
  const pair = [fill.kept, partners.kept, partners.tiles, state]
  if (isWide(fill)) {
    const wide = kernels.get('memory', 'ts_pass_wide')
    const fold = kernels.get('memory', 'ts_fold_many')
    launch(wide, [units, 1], 256, [...pair, groups])
    launch(fold, [units / UNITS_A_FOLD, 1], 256, [groups, nodes, state, units])
  } else launch(kernels.get('memory', 'ts_pass'), [units, 1], 256, [...pair, unitOf(tiles), nodes])
  const scratch = roots + BigInt(32 * 3 * paddedRounds(fill.rounds))
  foldRounds(tools, fill, { from: nodes, round: state + ROUND_OFFSET, perRound: units }, roots, scratch)
  const root = foldAll(tools, roots, paddedRounds(fill.rounds))
  launch(kernels.get('memory', 'ts_finish_pass'), [1, 1], 1, [root, state])
}

/** Nodes of a pass to one root per kept round. */
function foldRounds(
  { launch, kernels }: CardTools,
  fill: HeldFill,
  nodes: { readonly from: Handle; readonly round: Handle; readonly perRound: number },
  roots: Handle,
  scratch: Handle,
): void {
  const fold = kernels.get('base', 'ts_fold')
  let count = fill.rounds * unitsOf(tilesOf(fill.series.plan.shape))
  let { from, round, perRound } = nodes
  const widths = foldWidths(unitsOf(tilesOf(fill.series.plan.shape)))
  for (const [step, width] of widths.entries()) {
    count /= width
    const to = step === widths.length - 1 ? roots : scratch
    launch(fold, [count, 1], FOLD_THREADS, [from, to, round, perRound, width])
    from = to
    round = 0n
    perRound = 0
  }
}

/** A power of two of hashes to one, step by step behind one another. */
function foldAll({ launch, kernels }: CardTools, hashes: Handle, count: number): Handle {
  const fold = kernels.get('base', 'ts_fold')
  let from = hashes
  let to = hashes + BigInt(32 * count)
  let left = count
  for (const width of foldWidths(count)) {
    left /= width
    launch(fold, [left, 1], FOLD_THREADS, [from, to, 0n, 0, width])
    from = to
    to += BigInt(32 * left)
  }
  return from
}

/** Each opening: u in its kept round of the pass, that round among all, and u in the fill (ports/device.ts). */
export function openPasses(tools: CardTools, done: DonePasses, asked: readonly LeafPosition[]): Uint8Array {
  const tiles = tilesOf(done.fill.series.plan.shape)
  const prints = readUnitsAgain(tools, done, asked)
  const roots = passRoots(tools, done, asked)
  const unit = unitOf(tiles)
  const units = unitsOf(tiles)
  const requests = asked.flatMap(({ round, tile }, i): PathRequest[] => {
    const kept = Math.floor(tile / tiles)
    const inRound = tile % tiles
    const index = Math.floor(inRound / unit)
    const nodes = done.nodes + BigInt(32 * units * (round * done.fill.rounds + kept))
    const firstLeaf = tile - (tile % unit)
    const above = { prints: 0n, firstLeaf: 0, unit: 0, inUnit: 0 }
    return [
      { prints: prints + BigInt(16 * unit * i), firstLeaf, nodes, unit, inUnit: tile % unit, count: units, index },
      { ...above, nodes: roots.get(round)!, count: paddedRounds(done.fill.rounds), index: kept },
      roundRequest(done.fill.series.plan, kept, inRound),
    ]
  })
  return readPaths(tools, requests)
}

/** Fingerprints of the asked units, computed again from the fill: 256 tiles each, cheaper than keeping them all. */
function readUnitsAgain(tools: CardTools, done: DonePasses, asked: readonly LeafPosition[]): Handle {
  const { api, buffers, kernels, stream, launch } = tools
  const unit = unitOf(tilesOf(done.fill.series.plan.shape))
  const table = concatBytes(
    ...asked.map(({ round, tile }) =>
      concatBytes(done.words[round]!, u32le(Math.floor(tile / unit)), new Uint8Array(28)),
    ),
  )
  const printsAt = table.length
  const nodesAt = printsAt + 16 * unit * asked.length
  const base = buffers.take('prints', nodesAt + 32 * asked.length)
  api.upload(base, table)
  const prints = base + BigInt(printsAt)
  const pair = [done.fill.kept, done.partners.kept, done.partners.tiles]
  const again = kernels.get('memory', 'ts_pass_again')
  launch(again, [asked.length, 1], 256, [...pair, base, unit, base + BigInt(nodesAt), prints])
  api.synchronize(stream)
  return prints
}

/** Padded roots of the kept rounds for every asked pass. */
function passRoots(tools: CardTools, done: DonePasses, asked: readonly LeafPosition[]): Map<number, Handle> {
  const { api, buffers, stream } = tools
  const passes = [...new Set(asked.map(({ round }) => round))]
  const padded = paddedRounds(done.fill.rounds)
  const units = done.fill.rounds * unitsOf(tilesOf(done.fill.series.plan.shape))
  const base = buffers.take('passRoots', 32 * (passes.length * padded + units))
  api.zero(base, 32 * passes.length * padded)
  const scratch = base + BigInt(32 * passes.length * padded)
  const places = passes.map((pass, i) => {
    const roots = base + BigInt(32 * padded * i)
    const from = done.nodes + BigInt(32 * units * pass)
    foldRounds(tools, done.fill, { from, round: 0n, perRound: 0 }, roots, scratch)
    return [pass, roots] as const
  })
  api.synchronize(stream)
  return new Map(places)
}
