import { concatBytes } from '../../src/core/bytes/bytes.ts'
import { PRECISION_NAMES } from '../../src/core/params/precision.ts'
import { buildTree, padRoots, pathOf } from '../../src/core/proof/merkle.ts'
import { referenceEngine } from '../../src/core/proof/referenceEngine.ts'
import { nextPass, nextSeed, passRoot } from '../../src/core/proof/seeds.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import type {
  Device,
  DeviceFacts,
  FillTask,
  LeafPosition,
  OnRoot,
  PassTask,
  SeriesTask,
} from '../../src/ports/device.ts'
import { bindLeaves, type ProductShape, passLeaves, productTiles, roundLeaves } from './referenceRound.ts'

export type Tree = readonly (readonly Uint8Array[])[]

/** What a step of work costs, as a wait: a device with none takes no time at all. */
export interface Costs {
  round?(signal: AbortSignal): Promise<void>
  fillRound?(signal: AbortSignal): Promise<void>
  pass?(signal: AbortSignal): Promise<void>
}

export interface ReferenceDeviceOptions {
  readonly engine?: TileEngine
  readonly facts?: Partial<DeviceFacts>
  readonly costs?: Costs
}

/** One place in a run at which a device commits to something. */
export interface Work {
  readonly part: 'rounds' | 'bind' | 'fill'
  readonly round: number
  readonly seed: Uint8Array
  readonly shape: ProductShape
}

/**
 * An honest device on the plain definitions of core/proof. Cheats extend it: every step of the work is a method of its
 * own, and the honest one does exactly what docs/spec/proof-of-gpu.md says.
 */
export class ReferenceDevice implements Device {
  readonly facts: DeviceFacts
  readonly engine: TileEngine
  readonly costs: Costs
  protected series: Tree[] = []
  protected fillTiles: Uint32Array[] = []
  protected fillTrees: Tree[] = []
  /** Per pass: one tree per kept round, and the tree over their roots. */
  protected passTrees: { rounds: Tree[]; top: Tree }[] = []

  constructor({ engine = referenceEngine, facts = {}, costs = {} }: ReferenceDeviceOptions = {}) {
    this.engine = engine
    this.costs = costs
    const memory = { memoryBytes: 2 ** 30, freeBytes: 2 ** 30 }
    this.facts = {
      class: 'cpu',
      backEnd: 'cpu',
      name: 'reference',
      ...memory,
      precisions: PRECISION_NAMES,
      details: {},
      ...facts,
    }
  }

  /** All tiles of one product. */
  protected product({ seed, shape }: Work): Uint32Array[] {
    return productTiles(seed, shape, this.engine)
  }

  /** What is committed of a round. */
  protected leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
    return work.part === 'bind' ? bindLeaves(work.seed, tiles) : roundLeaves(work.seed, tiles)
  }

  /** The root that is sent; the series goes on from it. */
  protected root(_work: Work, tree: Tree): Uint8Array {
    return tree.at(-1)![0]!
  }

  /** Tiles a pass reads: what was kept. */
  protected held(): readonly Uint32Array[] {
    return this.fillTiles
  }

  protected leavesOfPass(z: Uint8Array, own: readonly Uint32Array[], partners: readonly Uint32Array[]): Uint8Array[] {
    return passLeaves(z, own, partners)
  }

  async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    const { kind, rounds, seed: first, ...shape } = task
    this.series = []
    let seed = first
    for (let round = 0; round < rounds; round++) {
      await this.costs.round?.(signal)
      signal.throwIfAborted()
      const work: Work = { part: kind, round, seed, shape }
      const tree = buildTree(this.leaves(work, this.product(work)))
      this.series.push(tree)
      const root = this.root(work, tree)
      onRoot(root)
      seed = nextSeed(seed, root)
    }
  }

  async openSeries(asked: readonly LeafPosition[], _signal: AbortSignal): Promise<Uint8Array> {
    return concatBytes(...asked.map(({ round, tile }) => pathOf(this.series[round]!, tile)))
  }

  async fill({ m, n, k, kept, seed: first }: FillTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    this.fillTiles = []
    this.fillTrees = []
    let seed = first
    for (let round = 0; round < kept; round++) {
      await this.costs.fillRound?.(signal)
      signal.throwIfAborted()
      const work: Work = { part: 'fill', round, seed, shape: { precision: 'int8', m, n, k } }
      const tiles = this.product(work)
      const tree = buildTree(this.leaves(work, tiles))
      this.keep(work, tiles)
      this.fillTrees.push(tree)
      const root = this.root(work, tree)
      onRoot(root)
      seed = nextSeed(seed, root)
    }
  }

  protected keep(_work: Work, tiles: readonly Uint32Array[]): void {
    this.fillTiles.push(...tiles)
  }

  async runPasses({ passes, start, peer, joint }: PassTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    this.passTrees = []
    let z = start
    for (let pass = 0; pass < passes; pass++) {
      await this.costs.pass?.(signal)
      signal.throwIfAborted()
      const own = this.held()
      const partners = peer ? (peer as ReferenceDevice).held() : own
      const leaves = this.leavesOfPass(z, own, partners)
      const tiles = leaves.length / this.fillTrees.length
      const rounds = this.fillTrees.map((_, i) => buildTree(leaves.slice(i * tiles, (i + 1) * tiles)))
      const roots = rounds.map((tree) => tree.at(-1)![0]!)
      this.passTrees.push({ rounds, top: buildTree(padRoots(roots)) })
      const q = passRoot(pass, roots)
      onRoot(q)
      joint?.passes.put(joint.place, pass, q)
      if (pass === passes - 1) break
      await joint?.passes.over(pass, signal)
      z = joint ? joint.passes.next(z, pass) : nextPass(z, q)
    }
  }

  async openPasses(asked: readonly LeafPosition[], _signal: AbortSignal): Promise<Uint8Array> {
    const perRound = this.fillTrees[0]![0]!.length
    return concatBytes(
      ...asked.map(({ round: pass, tile: u }) => {
        const { rounds, top } = this.passTrees[pass]!
        const kept = Math.floor(u / perRound)
        const inRound = u % perRound
        return concatBytes(pathOf(rounds[kept]!, inRound), pathOf(top, kept), pathOf(this.fillTrees[kept]!, inRound))
      }),
    )
  }

  async release(): Promise<void> {
    this.series = []
    this.fillTiles = []
    this.fillTrees = []
    this.passTrees = []
  }

  async close(): Promise<void> {
    await this.release()
  }
}

export const openReferenceDevice = (options: ReferenceDeviceOptions = {}): Device => new ReferenceDevice(options)
