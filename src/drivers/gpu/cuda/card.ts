import { PRECISION_NAMES } from '../../../core/params/precision.ts'
import type { TileEngine } from '../../../core/proof/tileEngine.ts'
import type { DeviceFacts, FillTask, LeafPosition, SeriesTask, TransferRates } from '../../../ports/device.ts'
import { portFault } from '../../../ports/faults.ts'
import { refuseCount, refusePositions, refuseSeed, refuseShape, tilesOf } from '../tasks.ts'
import { type CardOptions, type CardTools, openCardTools } from './cardTools.ts'
import { closeAll } from './closeAll.ts'
import type { CublasLt } from './cublasLt.ts'
import { fault } from './faults.ts'
import type { CudaApi } from './loadLibcuda.ts'
import { compareTransfers, measureTransfers } from './measureTransfers.ts'
import {
  type DonePasses,
  type FillPlace,
  type HeldFill,
  openPasses,
  placeOf,
  runPasses,
  type SharedPasses,
} from './memoryPart.ts'
import { productMakers } from './product.ts'
import type { OnRoots } from './replay.ts'
import { checkKnownTile, type PlanChoices, planRounds, type RoundPlan, reserve } from './roundPlan.ts'
import { type DoneSeries, openSeries, runSeries } from './series.ts'
import { LEAST_SIZE, type SeriesShape } from './shape.ts'
import type { Stop } from './stop.ts'

interface CardParts {
  readonly api: CudaApi
  readonly openLibrary: () => CublasLt | null
  readonly engine: TileEngine
}

const MULTIPROCESSORS = 16
const CLOCK_KHZ = 13
const L2_BYTES = 38
/** Unless said otherwise a sixteenth of the card may hold fingerprints for the openings. */
const KEEP_SHARE = 1 / 16

/** One card, driven synchronously from the thread that opened it. `CudaDevice` is the same from outside that thread. */
export class Card {
  readonly facts: DeviceFacts
  readonly tools: CardTools
  readonly #engine: TileEngine
  readonly #printsBudget: number
  readonly #plans = new Map<string, RoundPlan>()
  /** Rounds that ran once here and whose known tile was right. */
  readonly #ran = new Set<string>()
  #series: DoneSeries | null = null
  #fill: HeldFill | null = null
  #passes: DonePasses | null = null

  constructor(parts: CardParts, options: CardOptions) {
    this.tools = openCardTools(parts.api, parts.openLibrary, options)
    this.#engine = parts.engine
    this.facts = factsOf(this.tools)
    this.#printsBudget = options.keepBytes ?? this.facts.memoryBytes * KEEP_SHARE
  }

  /** Everything of coming series that needs no seed: memory for the largest, kernels, captured rounds, known tiles. */
  prepare(shapes: readonly SeriesShape[]): void {
    for (const shape of shapes) this.#refuse(shape)
    for (const shape of shapes) reserve(this.tools, shape, this.#printsBudget)
    for (const shape of shapes) this.plan(shape)
    this.tools.kernels.get('paths', 'ts_paths')
  }

  runSeries(task: SeriesTask, onRoots: OnRoots, stop: Stop): void {
    const { kind, precision, m, n, k, rounds } = task
    refuseSeed('seed', task.seed)
    this.#forget()
    const plan = this.plan({ kind, precision, m, n, k, rounds })
    this.#series = runSeries(this.tools, plan, task, onRoots, stop)
  }

  openSeries(asked: readonly LeafPosition[]): Uint8Array {
    if (!this.#series) throw portFault('NOTHING_TO_OPEN', { run: 'series is' })
    refusePositions(asked, this.#series.plan.shape.rounds, tilesOf(this.#series.plan.shape))
    return openSeries(this.tools, this.#series, asked)
  }

  /** Where the fill then lies, for a neighbour's link passes. */
  fill({ m, n, k, kept, seed }: FillTask, onRoots: OnRoots, stop: Stop): FillPlace {
    refuseSeed('seed', seed)
    this.release()
    const plan = this.plan({ kind: 'fill', precision: 'int8', m, n, k, rounds: kept })
    const series = runSeries(this.tools, plan, { seed, rounds: kept }, onRoots, stop)
    this.#fill = { series, kept: plan.kept, rounds: kept }
    // What made the fill is not needed to hold it.
    this.tools.buffers.drop('a', 'b', 'c', 'workspace')
    return placeOf(this.tools, this.#fill)
  }

  runPasses(
    task: {
      readonly passes: number
      readonly start: Uint8Array
      readonly peer?: FillPlace | null
      readonly joint?: SharedPasses | null
    },
    onRoots: OnRoots,
    stop: Stop,
  ): void {
    if (!this.#fill) throw portFault('NO_FILL')
    refuseCount('passes', task.passes)
    refuseSeed('start', task.start)
    this.#passes = null
    const partners = task.peer ?? placeOf(this.tools, this.#fill)
    this.#passes = runPasses(this.tools, { ...task, fill: this.#fill, partners }, onRoots, stop)
  }

  openPasses(asked: readonly LeafPosition[]): Uint8Array {
    if (!this.#passes) throw portFault('NOTHING_TO_OPEN', { run: 'passes are' })
    refusePositions(
      asked,
      this.#passes.words.length,
      tilesOf(this.#passes.fill.series.plan.shape) * this.#passes.fill.rounds,
    )
    return openPasses(this.tools, this.#passes, asked)
  }

  /** Gives all memory of the card back. */
  release(): void {
    this.#forget()
    this.#fill = null
    const plans = [...this.#plans.values()]
    this.#plans.clear()
    closeAll([...plans.map((plan) => () => plan.close()), () => this.tools.buffers.dropAll()])
  }

  close(): void {
    const { api, cublasLt, stream, context } = this.tools
    // A card that is lost may refuse all of it; the driver frees what is left with the context.
    closeAll([
      () => this.release(),
      () => cublasLt?.close(),
      () => api.destroyStream(stream),
      () => api.closeContext(context),
    ])
  }

  /** The product alone over the operands of the first seed, `rounds` times; microseconds. */
  runBare(task: SeriesTask): number {
    const { api, stream } = this.tools
    const { kind, precision, m, n, k, rounds } = task
    const plan = this.plan({ kind, precision, m, n, k, rounds })
    plan.window.start(plan.state, task.seed)
    plan.steps.entries()
    const [from, to] = [api.createEvent(), api.createEvent()]
    api.recordEvent(from, stream)
    for (let round = 0; round < rounds; round++) plan.steps.product()
    api.recordEvent(to, stream)
    const microseconds = 1000 * api.elapsedMs(from, to)
    api.destroyEvent(from)
    api.destroyEvent(to)
    return microseconds
  }

  transfers(): TransferRates {
    return compareTransfers(this.tools.api, this.tools.stream)
  }

  /** A plan that is still good, or a new one; `choices` are for benchmarks. */
  plan(shape: SeriesShape, choices: Partial<PlanChoices> = {}): RoundPlan {
    this.#refuse(shape)
    const key = JSON.stringify([shape, choices])
    const known = this.#plans.get(key)
    if (known && known.generation === this.tools.buffers.generation) return known
    this.#plans.delete(key)
    known?.close()
    const { kind, precision, m, n, k } = shape
    const ran = JSON.stringify([kind, precision, m, n, k, choices])
    const warm = !this.#ran.has(ran)
    const plan = planRounds(this.tools, shape, { printsBudget: this.#printsBudget, warm, ...choices })
    try {
      if (warm && kind === 'rounds') checkKnownTile(this.tools, plan, this.#engine)
    } catch (error) {
      plan.close()
      throw error
    }
    this.#plans.set(key, plan)
    this.#ran.add(ran)
    return plan
  }

  #forget(): void {
    this.#series = null
    this.#passes = null
  }

  #refuse(shape: SeriesShape): void {
    refuseShape(shape, LEAST_SIZE)
    refuseCount('rounds', shape.rounds)
    const { capability, cublasLt, ordinal } = this.tools
    if (productMakers(shape.precision, capability, cublasLt !== null).length > 0) return
    throw fault('PRECISION_UNSUPPORTED', {
      card: ordinal,
      precision: shape.precision,
      capability,
      version: capability / 10,
    })
  }
}

function factsOf({ api, ordinal, capability, cublasLt, stream }: CardTools): DeviceFacts {
  const { freeBytes, totalBytes } = api.freeMemory()
  const driverCuda = `${Math.floor(api.driverVersion / 1000)}.${Math.floor((api.driverVersion % 1000) / 10)}`
  return {
    class: 'gpu',
    backEnd: 'cuda',
    name: api.deviceName(ordinal),
    memoryBytes: totalBytes,
    freeBytes,
    precisions: PRECISION_NAMES.filter((name) => productMakers(name, capability, cublasLt !== null).length > 0),
    details: {
      ordinal,
      uuid: api.deviceUuid(ordinal),
      pci: api.devicePci(ordinal),
      computeCapability: capability / 10,
      multiprocessors: api.deviceAttribute(ordinal, MULTIPROCESSORS),
      clockMhz: Math.round(api.deviceAttribute(ordinal, CLOCK_KHZ) / 1000),
      l2Bytes: api.deviceAttribute(ordinal, L2_BYTES),
      driverCuda,
      // Where NVML tells the version of the driver itself, that takes its place.
      driver: `CUDA ${driverCuda}`,
      // Said where they cannot, so that no link is asked (attack 494).
      ...(api.reachesAll(ordinal) ? {} : { peers: false }),
      productLibrary: cublasLt ? `cuBLASLt ${cublasLt.version}` : 'own kernels',
      ...measureTransfers(api, stream),
    },
  }
}
