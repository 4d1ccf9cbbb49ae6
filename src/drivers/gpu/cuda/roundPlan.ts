import { words32 } from '../../../core/bytes/bytes.ts'
import { TILE } from '../../../core/params/constants.ts'
import type { Precision } from '../../../core/params/precision.ts'
import { fingerprintTile } from '../../../core/proof/fingerprint.ts'
import type { TileEngine } from '../../../core/proof/tileEngine.ts'
import { tilesOf } from '../tasks.ts'
import type { CardTools } from './cardTools.ts'
import { closeAll } from './closeAll.ts'
import { fault } from './faults.ts'
import type { Handle, KernelArgument } from './loadLibcuda.ts'
import { createProduct, type Product, type ProductMaker } from './product.ts'
import { ROUND_OFFSET, RootWindow, STATE_BYTES } from './replay.ts'
import { entryBytes, FOLD, FOLD_THREADS, nodesOf, operandBytes, type SeriesShape, unitsOf } from './shape.ts'

/** A captured round, and where it leaves what the openings need. */
export type RoundPlan = ReturnType<typeof planRounds>

export interface PlanChoices {
  /** Fingerprints of every round stay on the card when they take at most this much. */
  readonly printsBudget: number
  /** False when this round has run on this card before: its kernels are loaded and its known tile is checked. */
  readonly warm?: boolean
  readonly maker?: ProductMaker
  readonly choice?: number
}

const ENTRIES: Readonly<Record<Precision, (tools: CardTools) => Handle>> = {
  int8: ({ kernels }) => kernels.get('base', 'ts_entries_int8'),
  fp8: ({ kernels }) => kernels.get('entries16', 'ts_entries_fp8'),
  bf16: ({ kernels }) => kernels.get('entries16', 'ts_entries_bf16'),
  fp16: ({ kernels, capability }) => kernels.get(capability >= 80 ? 'entries80' : 'entries16', 'ts_entries_fp16'),
  fp32: ({ kernels }) => kernels.get('base', 'ts_entries_fp32'),
}
const ENTRY_VECTORS_PER_THREAD = 8

/** Buffers of a shape, taken in one go so that several plans can share the largest. */
export function reserve({ buffers, cublasLt, workspace }: CardTools, shape: SeriesShape, printsBudget: number) {
  const { a, b, c } = operandBytes(shape)
  const tiles = tilesOf(shape)
  if (cublasLt) workspace()
  const isFill = shape.kind === 'fill'
  const perRound = 16 * tiles + 32 * nodesOf(shape)
  const slots = isFill || shape.rounds * perRound <= printsBudget ? shape.rounds : 1
  return {
    a: buffers.take('a', a),
    b: buffers.take('b', b),
    c: buffers.take('c', c),
    state: buffers.take('state', STATE_BYTES),
    prints: buffers.take(isFill ? 'keptPrints' : 'prints', slots * tiles * 16),
    nodes: buffers.take(isFill ? 'keptNodes' : 'nodes', slots * nodesOf(shape) * 32),
    folded: buffers.take('folded', 2 * Math.ceil(nodesOf(shape) / FOLD) * 32),
    kept: isFill ? buffers.take('kept', shape.rounds * tiles * 2048) : 0n,
    /** 1 when rounds are computed again instead of kept. */
    slots,
  }
}

/** The seed of the round each plan runs once before it is used. */
const KNOWN_SEED: Uint8Array = Uint8Array.from({ length: 32 }, (_, i) => 7 * i + 1)

/** Makes buffers, kernels and the captured round of a shape; nothing of it depends on a seed. */
export function planRounds(tools: CardTools, shape: SeriesShape, choices: PlanChoices) {
  const memory = reserve(tools, shape, choices.printsBudget)
  const product = createProduct(tools, { ...shape, ...memory }, choices.maker)
  const window = new RootWindow(tools.api, shape.rounds)
  let choice = choices.choice ?? 0
  const steps = roundSteps(tools, shape, memory, product, () => choice)
  const { api, stream } = tools
  const round = [steps.entries, steps.product, steps.leaves, steps.tree]
  // Once outside the graph: kernels load at their first launch, which must not happen while capturing, and the result is
  // there to be checked against the known tile.
  window.start(memory.state, KNOWN_SEED)
  if (choices.warm ?? true) steps.entries()
  choice = choices.choice ?? chooseAlgorithm(tools, shape, product)
  if (choices.warm ?? true) for (const step of round) step()
  api.synchronize(stream)
  api.beginCapture(stream)
  for (const step of round) step()
  const graph = api.endCapture(stream)
  return {
    shape,
    product,
    /** Which of the library's ways was fastest here. */
    choice,
    graph,
    window,
    /** The steps alone, for benchmarks. */
    steps,
    ...memory,
    generation: tools.buffers.generation,
    close: () => closeAll([() => api.destroyGraph(graph), () => product.close(), () => window.close()]),
  }
}

type Memory = ReturnType<typeof reserve>

function roundSteps(tools: CardTools, shape: SeriesShape, memory: Memory, product: Product, choice: () => number) {
  const { launch } = tools
  const entriesKernel = ENTRIES[shape.precision](tools)
  const vectors = (rows: number) => (rows * shape.k * entryBytes(shape.precision)) / 16
  const most = Math.max(vectors(shape.m), vectors(shape.n))
  const entryBlocks = Math.max(1, Math.ceil(most / (256 * ENTRY_VECTORS_PER_THREAD)))
  const entries = [memory.a, memory.b, memory.state, vectors(shape.m), vectors(shape.n)]
  const leavesKernel = kernelOfLeaves(tools, shape)
  const leafBlocks = unitsOf(tilesOf(shape))
  const leaves = argumentsOfLeaves(shape, memory)
  return {
    entries: () => launch(entriesKernel, [entryBlocks, 2], 256, entries),
    product: () => product.launch(choice()),
    leaves: () => launch(leavesKernel, [leafBlocks, 1], 256, leaves),
    tree: () => launchTree(tools, shape, memory),
  }
}

function kernelOfLeaves({ kernels }: CardTools, { kind, precision }: SeriesShape): Handle {
  if (kind === 'fill') return kernels.get('memory', 'ts_leaves_fill')
  if (kind === 'bind') return kernels.get('memory', 'ts_leaves_bind')
  const floats = precision === 'fp8' || precision === 'bf16' || precision === 'fp16'
  return kernels.get('base', floats ? 'ts_leaves_float' : 'ts_leaves_int')
}

function argumentsOfLeaves(shape: SeriesShape, { c, state, slots, prints, nodes, kept }: Memory): KernelArgument[] {
  const keep = slots > 1 ? 1 : 0
  const common = [c, state, tilesOf(shape), Math.log2(shape.n / TILE), keep, prints, nodes]
  return shape.kind === 'fill' ? [...common, kept] : common
}

/** Nodes of the round to its root, which goes to the host, and the next seed into the state. */
function launchTree({ launch, kernels }: CardTools, shape: SeriesShape, memory: Memory): void {
  let count = nodesOf(shape)
  let from = memory.nodes
  let to = memory.folded
  let perRound = memory.slots > 1 ? count : 0
  for (; count > FOLD; count /= FOLD) {
    const round = memory.state + ROUND_OFFSET
    launch(kernels.get('base', 'ts_fold'), [count / FOLD, 1], FOLD_THREADS, [from, to, round, perRound, FOLD])
    from = to
    to += BigInt((32 * count) / FOLD)
    perRound = 0
  }
  launch(kernels.get('base', 'ts_finish_round'), [1, 1], FOLD_THREADS, [from, memory.state, perRound, count])
}

/** Time a choice may cost before a run: enough to try three or four ways at the largest size. */
const BUDGET_MS = 600

const chosen = new Map<string, number>()

/**
 * The library's own order of its ways is off by up to a third on large int8 products, so the first few are timed once per
 * card and size. Operands of the moment will do: all ways do the same work.
 */
function chooseAlgorithm(tools: CardTools, shape: SeriesShape, product: Product): number {
  if (product.choices < 2) return 0
  const { precision, m, n, k } = shape
  const key = JSON.stringify([tools.ordinal, precision, m, n, k, product.by])
  const known = chosen.get(key)
  if (known !== undefined) return known
  const best = fastest(tools, product)
  chosen.set(key, best)
  return best
}

function fastest({ api, stream }: CardTools, product: Product): number {
  const [from, to] = [api.createEvent(), api.createEvent()]
  let best = { choice: 0, ms: Number.POSITIVE_INFINITY }
  let spent = 0
  for (let choice = 0; choice < product.choices && spent < BUDGET_MS; choice++) {
    try {
      product.launch(choice) // loads the kernel
      api.recordEvent(from, stream)
      product.launch(choice)
      api.recordEvent(to, stream)
    } catch {
      continue // a way the library offers and then refuses
    }
    const ms = api.elapsedMs(from, to)
    spent += 2 * ms
    if (ms < best.ms) best = { choice, ms }
  }
  api.destroyEvent(from)
  api.destroyEvent(to)
  return best.choice
}

/**
 * §2: one tile of the round a plan has just run, against the CPU. A difference is a fault of the box (a library that
 * rounds, a card that errs), found before the run and never held against it as a cheat. Plain rounds only: bound and kept
 * ones use the same product.
 */
export function checkKnownTile({ api, ordinal }: CardTools, plan: RoundPlan, engine: TileEngine): void {
  const { precision, n, k } = plan.shape
  const columns = n / TILE
  const tile = tilesOf(plan.shape) - 1
  const place = { tileRow: Math.floor(tile / columns), tileColumn: tile % columns }
  const expected = fingerprintTile(engine.tile({ seed: KNOWN_SEED, precision, k, ...place }), words32(KNOWN_SEED)[3]!)
  const bytes = api.download(plan.prints + BigInt(16 * tile), 16)
  const [f0, f1] = new BigUint64Array(bytes.buffer, bytes.byteOffset, 2)
  if (f0 === expected.f0 && f1 === expected.f1) return
  const { m } = plan.shape
  throw fault('NOT_EXACT', { card: ordinal, precision, m, n, k, product: plan.product.by })
}
