import { expect } from 'vitest'
import { concatBytes, words32 } from '../../src/core/bytes/bytes.ts'
import type { Precision } from '../../src/core/params/precision.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import { fingerprintTile } from '../../src/core/proof/fingerprint.ts'
import { buildTree, HASH_BYTES, leafHash } from '../../src/core/proof/merkle.ts'
import { keptWords } from '../../src/core/proof/partners.ts'
import type { FillTask, LeafPosition, OnRoot, SeriesTask } from '../../src/ports/device.ts'
import { honestProgram } from '../support/inProcessBox.ts'
import { ReferenceDevice, type Tree, type Work } from '../support/openReferenceDevice.ts'
import { roundLeaves } from '../support/referenceRound.ts'
import { type BoxCheat, CheatingDevice, type CheatKit, randomBytes, withDevices } from './cheat.ts'
import {
  EXACT_SHORTCUTS,
  FP32_SHORTCUTS,
  forgeHankel,
  forgeSketch,
  ourRows,
  type Shortcut,
  shortcutEngine,
  tilesOfMatrix,
} from './shortcuts.ts'

/** Computes a smaller problem than the one asked. */
class Smaller extends CheatingDevice {
  protected override product(work: Work): Uint32Array[] {
    return super.product({ ...work, shape: { ...work.shape, m: 32, n: 32 } })
  }
}

class Shallower extends CheatingDevice {
  protected override product(work: Work): Uint32Array[] {
    return super.product({ ...work, shape: { ...work.shape, k: work.shape.k / 2 } })
  }
}

class HankelForger extends CheatingDevice {
  protected override product({ seed, shape }: Work): Uint32Array[] {
    return tilesOfMatrix(forgeHankel(shape, ourRows(seed, shape)).c, shape)
  }
}

class SketchForger extends CheatingDevice {
  protected override product({ seed, shape }: Work): Uint32Array[] {
    const r = Float64Array.from({ length: shape.n }, (_, j) => (j === 0 ? 1 : Math.floor(2 * this.chance())))
    return tilesOfMatrix(forgeSketch(shape, ourRows(seed, shape), r).c, shape)
  }
}

/** Computes all but a share of the tiles of every round: the same number in each, at random places. */
export const skipTiles = (share: number) =>
  class SkipsTiles extends CheatingDevice {
    protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
      const leaves = super.leaves(work, tiles)
      const places = leaves.map((_, place) => place)
      for (let left = Math.round(share * leaves.length); left > 0; left--) {
        const [place] = places.splice(Math.floor(this.chance() * places.length), 1)
        leaves[place!] = randomBytes(this.chance)
      }
      return leaves
    }
  }

/** Computes only the first rounds of a part; a random root costs nothing. */
export const skipRounds = (share: number) =>
  class SkipsRounds extends CheatingDevice {
    #fake = new Set<number>()

    override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
      const rounds = Array.from({ length: task.rounds }, (_, round) => round)
      this.#fake = new Set()
      while (this.#fake.size < Math.round(share * task.rounds))
        this.#fake.add(rounds[Math.floor(this.chance() * rounds.length)]!)
      await super.runSeries(task, onRoot, signal)
    }

    protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
      return this.#fake.has(work.round) ? tiles.map(() => randomBytes(this.chance)) : super.leaves(work, tiles)
    }
  }

/** Answers with the path of another place, or a path of another shape. */
const openOtherwise = ({
  place = (position: LeafPosition) => position,
  path = (honest: Uint8Array) => honest,
}: {
  place?: (asked: LeafPosition) => LeafPosition
  path?: (honest: Uint8Array) => Uint8Array
}) =>
  class OpensOtherwise extends CheatingDevice {
    override async openSeries(asked: readonly LeafPosition[], signal: AbortSignal): Promise<Uint8Array> {
      const paths = await Promise.all(asked.map((position) => super.openSeries([place(position)], signal)))
      return concatBytes(...paths.map(path))
    }
  }

/** Computes three tiles of four and repeats the third, as trees that pad with the last leaf allow. */
class RepeatsLastLeaf extends CheatingDevice {
  protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
    const leaves = super.leaves(work, tiles)
    return [...leaves.slice(0, -1), leaves.at(-2)!]
  }
}

/** Commits to the inner nodes of a tree as if they were its leaves, and opens from there. */
class InnerNodesAsLeaves extends CheatingDevice {
  protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
    const [leaves, inner] = buildTree(super.leaves(work, tiles))
    return leaves!.map((_, i) => inner![i >> 1]!)
  }
}

/** Sends what an earlier run left behind; computes nothing. */
class ReplaysRoots extends CheatingDevice {
  override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    await super.runSeries({ ...task, seed: new Uint8Array(32).fill(9) }, onRoot, signal)
  }
}

/** Honest roots; the openings are those of an earlier run. */
class ReplaysOpenings extends CheatingDevice {
  override async openSeries(asked: readonly LeafPosition[], signal: AbortSignal): Promise<Uint8Array> {
    const earlier = new ReferenceDevice({ engine: this.engine })
    const shape = { precision: 'int8', m: 64, n: 64, k: 64, rounds: this.series.length } as const
    await earlier.runSeries({ kind: 'rounds', ...shape, seed: new Uint8Array(32).fill(9) }, () => {}, signal)
    return await earlier.openSeries(asked, signal)
  }
}

const wrongPrecisions: readonly (readonly [Precision, string, Shortcut])[] = [
  ...Object.entries(FP32_SHORTCUTS).map(([name, shortcut]) => ['fp32', name, shortcut] as const),
  ...(
    [
      ['bf16', 'int8 operands'],
      ['bf16', 'operands halved to fit int8'],
      ['bf16', 'fp8 operands'],
      ['fp16', 'bf16 operands'],
      ['fp16', 'int8 operands'],
      ['fp8', 'int4 operands'],
    ] as const
  ).map(([precision, name]) => [precision, name, EXACT_SHORTCUTS[name]] as const),
]

const precisionCheats = wrongPrecisions.map(
  ([precision, name, shortcut]): BoxCheat => ({
    attack: 7,
    name: `${precision} with ${name}`,
    how: 'computes in a cheaper precision or another order',
    expected: 'OPENING_DOES_NOT_REACH_ROOT',
    options: { precisions: [precision] },
    program: () => honestProgram({ devices: [new ReferenceDevice({ engine: shortcutEngine(shortcut) })] }),
  }),
)

/** Answers every part with the series it prepared during the first one. */
class ComputesAhead extends CheatingDevice {
  #first: Uint8Array | null = null

  override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    this.#first ??= task.seed
    await super.runSeries({ ...task, seed: this.#first }, onRoot, signal)
  }
}

/** Fakes the whole run in no time, to have it called too short and done again, and is honest the second time. */
class WantsAnotherTry extends CheatingDevice {
  protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
    if (this.seriesBegun === 3) return tiles.map(() => randomBytes(this.chance))
    this.kit.clock.spend(100_000)
    return super.leaves(work, tiles)
  }
}

/** Computes nothing of a calibration, or only a share of it, and everything of the run. */
const fakesCalibration = (share: number) =>
  class FakesCalibration extends CheatingDevice {
    protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
      const leaves = super.leaves(work, tiles)
      this.kit.clock.spend(100_000)
      return leaves.map((leaf) => (this.seriesBegun <= 2 && this.chance() < share ? randomBytes(this.chance) : leaf))
    }
  }

/** The same, but the card is said to be lost as soon as the first nonce shows that it is caught. */
class FakesAndGoes extends fakesCalibration(1) {
  override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    if (this.seriesBegun === 1) throw new Error('lost')
    await super.runSeries(task, onRoot, signal)
  }
}

const calibrated = { preset: PRESETS.devnet, openings: 32, partSeconds: 3, maxSize: 64 }

/** Keeps the fill in fewer bits than it has. */
const keepBits = (bits: number) =>
  class KeepsBits extends CheatingDevice {
    protected override keep(work: Work, tiles: readonly Uint32Array[]): void {
      super.keep(
        work,
        tiles.map((tile) => tile.map((value) => value & (2 ** bits - 1))),
      )
    }
  }

/** Keeps one round of the fill and reads it again for the others. */
class RepeatsRounds extends CheatingDevice {
  protected override keep(work: Work, tiles: readonly Uint32Array[]): void {
    super.keep(work, work.round === 0 ? tiles : this.fillTiles.slice(0, tiles.length))
  }
}

/** Fills with junk and commits to it honestly. */
class FillsWithJunk extends CheatingDevice {
  protected override product(work: Work): Uint32Array[] {
    if (work.part !== 'fill') return super.product(work)
    return Array.from({ length: 4 }, () =>
      Uint32Array.from({ length: 1024 }, () => Math.floor(2 ** 32 * this.chance())),
    )
  }
}

/** Fills honestly but sends random roots for it, so that it need not fingerprint the fill. */
class RandomFillRoots extends CheatingDevice {
  protected override root(work: Work, tree: Tree): Uint8Array {
    return work.part === 'fill' ? randomBytes(this.chance) : super.root(work, tree)
  }
}

/** Makes only the first half of the kept words. */
class PassesOverHalf extends CheatingDevice {
  protected override held(): readonly Uint32Array[] {
    return this.fillTiles.map((tile) => tile.map((value, i) => (i < 512 ? value : 0)))
  }
}

/** Fakes the roots of the passes without reading anything. */
class FakesPasses extends CheatingDevice {
  protected override leavesOfPass(_z: Uint8Array, own: readonly Uint32Array[]): Uint8Array[] {
    return own.map(() => randomBytes(this.chance))
  }
}

/** Takes every tile for its own partner: no read anywhere else in the memory. */
class SkipsPartners extends CheatingDevice {
  protected override leavesOfPass(z: Uint8Array, own: readonly Uint32Array[]): Uint8Array[] {
    const w2 = words32(z)[2]!
    return own.map((tile, u) => leafHash(u, fingerprintTile(keptWords(tile), w2, keptWords(tile))))
  }
}

/** One memory behind two devices: the second fill takes the place of the first. */
function sharedMemory(kit: CheatKit): ReferenceDevice[] {
  let inMemory: ReferenceDevice | null = null
  class Shares extends CheatingDevice {
    override async fill(task: FillTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
      await super.fill(task, onRoot, signal)
      inMemory = this
    }

    protected override held(): readonly Uint32Array[] {
      return inMemory === this ? super.held() : (inMemory as Shares).fillTiles
    }
  }
  return [new Shares({ engine: kit.engine }, kit), new Shares({ engine: kit.engine }, kit)]
}

/** The plain round posing as a bind round: no tile is brought together with its partner. */
class SkipsBinding extends CheatingDevice {
  protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
    return roundLeaves(work.seed, tiles)
  }
}

/** A link part answered from the device's own fill. */
class SkipsLink extends CheatingDevice {
  override async runPasses(
    { peer: _, ...task }: Parameters<ReferenceDevice['runPasses']>[0],
    onRoot: OnRoot,
    signal: AbortSignal,
  ): Promise<void> {
    await super.runPasses(task, onRoot, signal)
  }
}

/** Reads its memory as it comes to it, whatever the others have read. */
class ReadsAlone extends CheatingDevice {
  override async runPasses(
    { joint: _, ...task }: Parameters<ReferenceDevice['runPasses']>[0],
    onRoot: OnRoot,
    signal: AbortSignal,
  ): Promise<void> {
    await super.runPasses(task, onRoot, signal)
  }
}

const memory = { memory: true, precisions: [] as const }
const WRONG = 'OPENING_DOES_NOT_REACH_ROOT'

/** Cheats in the work itself: our own prover, with a device that computes something else or nothing. */
export const WORK_CHEATS: readonly BoxCheat[] = [
  {
    attack: 2,
    name: 'a smaller product',
    how: 'm = n = 32 for 64',
    expected: 'WRONG_OPENING_SIZE',
    program: withDevices(Smaller),
  },
  { attack: 2, name: 'a shallower product', how: 'half of k', expected: WRONG, program: withDevices(Shallower) },
  {
    attack: 3,
    name: 'the Hankel forger',
    how: 'the product in O(n^2), as if entries depended on i + j',
    expected: WRONG,
    program: withDevices(HankelForger),
  },
  {
    attack: 4,
    name: 'half of the tiles',
    how: 'random leaves for the rest, 32 openings',
    expected: WRONG,
    options: { openings: 32 },
    program: withDevices(skipTiles(0.5)),
  },
  ...precisionCheats,
  {
    attack: 8,
    name: 'a linear sketch',
    how: 'commits to a matrix that passes a Freivalds check and is not the product',
    expected: WRONG,
    program: withDevices(SketchForger),
  },
  {
    attack: 9,
    name: 'inner nodes as leaves',
    how: 'commits one level up',
    expected: WRONG,
    program: withDevices(InnerNodesAsLeaves),
  },
  {
    attack: 9,
    name: 'the path of another leaf',
    how: 'opens the sibling',
    expected: WRONG,
    program: withDevices(openOtherwise({ place: ({ round, tile }) => ({ round, tile: tile ^ 1 }) })),
  },
  {
    attack: 9,
    name: 'a short path',
    how: 'leaves the first sibling out',
    expected: 'WRONG_OPENING_SIZE',
    program: withDevices(openOtherwise({ path: (path) => path.subarray(HASH_BYTES) })),
  },
  {
    attack: 9,
    name: 'a long path',
    how: 'adds a sibling',
    expected: 'WRONG_OPENING_SIZE',
    program: withDevices(openOtherwise({ path: (path) => concatBytes(path, path.subarray(0, HASH_BYTES)) })),
  },
  {
    attack: 9,
    name: 'the last leaf twice',
    how: 'three tiles of four',
    expected: WRONG,
    options: { openings: 32 },
    program: withDevices(RepeatsLastLeaf),
  },
  {
    attack: 10,
    name: 'old roots',
    how: 'a series of an earlier run',
    expected: WRONG,
    program: withDevices(ReplaysRoots),
  },
  {
    attack: 10,
    name: "another run's openings",
    how: 'honest roots, openings of an earlier run',
    expected: WRONG,
    program: withDevices(ReplaysOpenings),
  },
  {
    attack: 10,
    name: 'the right opening of the wrong tile',
    how: 'the next tile',
    expected: WRONG,
    program: withDevices(openOtherwise({ place: ({ round, tile }) => ({ round, tile: (tile + 1) % 4 }) })),
  },
  {
    attack: 10,
    name: 'the right opening of the wrong round',
    how: 'the next round',
    expected: WRONG,
    program: withDevices(openOtherwise({ place: ({ round, tile }) => ({ round: (round + 1) % 4, tile }) })),
  },
  {
    attack: 26,
    name: 'the fill in 15 bits',
    how: 'drops one bit of every entry',
    expected: WRONG,
    options: memory,
    program: withDevices(keepBits(15)),
  },
  {
    attack: 26,
    name: 'the fill in 8 bits',
    how: 'keeps half of every entry',
    expected: WRONG,
    options: memory,
    program: withDevices(keepBits(8)),
  },
  {
    attack: 29,
    name: 'half of the rounds',
    how: 'random roots for the rest, 32 openings',
    expected: WRONG,
    options: { openings: 32 },
    program: withDevices(skipRounds(0.5)),
  },
  {
    attack: 30,
    name: 'the next part during this one',
    how: 'computes part 1 from the seed of part 0',
    expected: WRONG,
    options: { precisions: ['int8', 'bf16'] },
    program: withDevices(ComputesAhead),
  },
  {
    attack: 55,
    name: 'a run too short to count',
    how: 'fakes the first run in no time, to have it forgotten and done again',
    expected: WRONG,
    options: calibrated,
    program: withDevices(WantsAnotherTry),
  },
  {
    attack: 72,
    name: 'a calibration that was never computed',
    how: 'random roots for it, honest work in the run',
    expected: WRONG,
    options: calibrated,
    program: withDevices(fakesCalibration(1)),
    check: ({ judgement }) => expect(judgement.devices).toEqual([]),
  },
  {
    attack: 72,
    name: 'a calibration that was half computed',
    how: 'leaves out half of its tiles',
    expected: WRONG,
    options: calibrated,
    program: withDevices(fakesCalibration(0.5)),
  },
  {
    attack: 72,
    name: 'a faked calibration that is given up',
    how: 'says that the card is lost once the first nonce is out',
    expected: WRONG,
    options: { ...calibrated, precisions: ['int8', 'bf16'] },
    program: withDevices(FakesAndGoes),
  },
  {
    attack: 72,
    name: 'a calibration that was computed, for comparison',
    how: 'the same prover, honest',
    expected: 'ACCEPTED',
    options: calibrated,
    program: withDevices(fakesCalibration(0)),
  },
  {
    attack: 465,
    name: 'two memories in turns',
    how: 'each device passes over its own fill without waiting for the other',
    expected: WRONG,
    options: memory,
    program: withDevices(ReadsAlone, 2),
  },
  {
    attack: 36,
    name: 'one memory for two devices',
    how: 'the second fill overwrites the first',
    expected: WRONG,
    options: memory,
    program: (kit) => honestProgram({ devices: sharedMemory(kit) }),
  },
  {
    attack: 38,
    name: 'a fill of junk',
    how: 'random words, honestly committed',
    expected: WRONG,
    options: memory,
    program: withDevices(FillsWithJunk),
  },
  {
    attack: 38,
    name: 'random fill roots',
    how: 'the fill is there but not what was committed',
    expected: 'FILL_DOES_NOT_REACH_ROOT',
    options: memory,
    program: withDevices(RandomFillRoots),
  },
  {
    attack: 38,
    name: 'repeated rounds',
    how: 'keeps one round of the fill for all',
    expected: WRONG,
    options: { ...memory, openings: 32 },
    program: withDevices(RepeatsRounds),
  },
  {
    attack: 38,
    name: 'half of every tile',
    how: 'keeps half of the words',
    expected: WRONG,
    options: memory,
    program: withDevices(PassesOverHalf),
  },
  {
    attack: 38,
    name: 'faked passes',
    how: 'random leaves instead of reads',
    expected: WRONG,
    options: memory,
    program: withDevices(FakesPasses),
  },
  {
    attack: 38,
    name: 'no partners',
    how: 'every tile its own partner',
    expected: WRONG,
    options: { ...memory, openings: 32 },
    program: withDevices(SkipsPartners),
  },
  {
    attack: 28,
    name: 'no exchange in the bind part',
    how: 'plain rounds for bind rounds',
    expected: WRONG,
    options: { bind: true },
    program: withDevices(SkipsBinding),
  },
  {
    attack: 36,
    name: 'no exchange in the link part',
    how: 'partners from the own fill',
    expected: WRONG,
    options: { ...memory, openings: 32 },
    program: withDevices(SkipsLink, 2),
  },
]
