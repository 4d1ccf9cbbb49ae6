import { expect } from 'vitest'
import type { BoxReport } from '../../src/apps/validator/verifyBox.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import type { OnRoot, SeriesTask } from '../../src/ports/device.ts'
import { honestProgram, type ProverProgram, tampered } from '../support/inProcessBox.ts'
import type { Work } from '../support/openReferenceDevice.ts'
import { productTiles } from '../support/referenceRound.ts'
import { type BoxCheat, CheatingDevice, type CheatKit, honestDevices, withDevices } from './cheat.ts'
import { skipTiles } from './workCheats.ts'

const TEN_MS = (kit: CheatKit) => ({ round: (signal: AbortSignal) => kit.clock.sleep(10, signal) })

/** Four rounds of 10 ms each: the only rate there is to see. */
function expectRateOfTheClock({ judgement }: BoxReport): void {
  const honest = (4 * 2 * 64 ** 3) / 0.04
  expect(judgement.devices[0]!.rates.int8).toBeLessThanOrEqual(honest)
  expect(judgement.devices[0]!.rates.int8).toBeGreaterThan(0.98 * honest)
  expect(judgement.devices[0]!.identity.model).toBeNull()
}

const fastTalk = {
  class: 'gpu',
  backEnd: 'cuda',
  name: 'NVIDIA B300 288GB',
  memoryBytes: 288e9,
  details: { int8Tops: 9999, elapsedMs: 0.001, uuid: 'GPU-00000000', proven: true },
} as const

function talksFast(kit: CheatKit): ProverProgram {
  const sample = new TextEncoder().encode(JSON.stringify({ tops: 9999, elapsedUs: 1 }))
  return tampered(honestProgram({ devices: honestDevices(kit, 1, { facts: fastTalk, costs: TEN_MS(kit) }) }), {
    onAnswer: async (answer, line) => {
      await line.answer({ type: 'telemetry', device: 0, sample })
      await line.answer(answer)
    },
  })
}

function jumpingWallClock(kit: CheatKit): ProverProgram {
  return tampered(honestProgram({ devices: honestDevices(kit, 1, { costs: TEN_MS(kit) }) }), {
    onAnswer: async (answer, line) => {
      kit.clock.jumpWall(answer.type === 'root' && answer.index % 2 === 0 ? -3_600_000 : 7_200_000)
      await line.answer(answer)
    },
  })
}

/** What one tile costs, to read and to compute, in virtual microseconds. */
const READ_US = 10
const PRODUCT_US = 1000

/** A device whose reads of the fill take time, as memory does. */
class Reads extends CheatingDevice {
  protected readUs = READ_US

  protected override held(): readonly Uint32Array[] {
    const tiles = super.held()
    this.kit.clock.spend(2 * tiles.length * this.readUs)
    return tiles
  }
}

/** Keeps nothing but seeds and computes every tile again when a pass asks for it. */
class Recomputes extends CheatingDevice {
  #works: Work[] = []

  protected override keep(work: Work, tiles: readonly Uint32Array[]): void {
    if (work.round === 0) this.#works = []
    this.#works.push(work)
    super.keep(
      work,
      tiles.map(() => new Uint32Array(0)),
    )
  }

  protected override held(): readonly Uint32Array[] {
    const tiles = this.#works.flatMap(({ seed, shape }) => productTiles(seed, shape, this.engine))
    this.kit.clock.spend(tiles.length * PRODUCT_US)
    return tiles
  }
}

/** The fill lies on the far side of a link. */
class ParksInHostMemory extends Reads {
  protected override readUs = 20 * READ_US
}

/** One card behind two devices: their rounds take turns. */
function oneCardForTwo(kit: CheatKit): ProverProgram {
  let busy: Promise<void> = Promise.resolve()
  const round = (signal: AbortSignal) => {
    busy = busy.then(() => kit.clock.sleep(10, signal))
    return busy
  }
  return honestProgram({ devices: honestDevices(kit, 2, { costs: { round } }) })
}

/** One card that serves its series one after the other, and plays all devices but the first slow when they are alone. */
const oneAfterTheOther =
  (count: number) =>
  (kit: CheatKit): ProverProgram => {
    let started = 0
    let before = Promise.resolve()
    class InTurn extends CheatingDevice {
      readonly #number = started++
      #parts = 0

      override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
        if (this.#parts++ > 0) {
          await super.runSeries(task, onRoot, signal)
          if (this.#number > 0) await kit.clock.sleep(40, signal)
          return
        }
        before = before.then(() => super.runSeries(task, onRoot, signal))
        await before
      }
    }
    const costs = { round: (signal: AbortSignal) => kit.clock.sleep(10, signal) }
    return honestProgram({
      devices: Array.from({ length: count }, () => new InTurn({ engine: kit.engine, costs }, kit)),
    })
  }

/** All that counts together, in cards that need 10 ms for a round. */
const cardsCounted = ({ judgement }: BoxReport): number =>
  judgement.devices.reduce((sum, { rates }) => sum + rates.int8!, 0) / ((2 * 64 ** 3) / 0.01)

function expectOneCard(report: BoxReport): void {
  expect(cardsCounted(report)).toBeGreaterThan(0.98)
  expect(cardsCounted(report)).toBeLessThanOrEqual(1)
}

const memory = { memory: true, precisions: ['int8'] as const }

/** One tile of 2048 bytes in READ_US: what the memory of this device really does. */
const HONEST_BANDWIDTH = (2048 / READ_US) * 1e6

const expectBandwidth = (low: number, high: number) => (report: BoxReport) => {
  const { memory: judged } = report.judgement.devices[0]!
  expect(judged!.perSecond / HONEST_BANDWIDTH).toBeGreaterThan(low)
  expect(judged!.perSecond / HONEST_BANDWIDTH).toBeLessThan(high)
  expect(judged!.status).toBe('held')
}

const lyingRelease = { program: 'touchstone prover 1.0.0 (hash verified)' }

/** Cheats with claims and time: everything proven stays what the validator's clock and the openings say. */
export const CLAIM_CHEATS: readonly BoxCheat[] = [
  {
    attack: 5,
    name: 'fast numbers',
    how: 'prints a rate, a model and a duration everywhere it can',
    expected: 'ACCEPTED',
    program: talksFast,
    check: expectRateOfTheClock,
  },
  {
    attack: 6,
    name: 'one card answers for two',
    how: 'two devices that share one; together each runs at half its speed',
    expected: 'ACCEPTED',
    program: oneCardForTwo,
    check: ({ judgement }) => {
      expect(judgement.scaling).toBeGreaterThan(490)
      expect(judgement.scaling).toBeLessThan(550)
      expect(judgement.count.established).toBe(false)
    },
  },
  {
    attack: 48,
    name: 'one card serves two series in turn',
    how: 'full speed for the first device, half for the second: one and a half cards, of one',
    expected: 'ACCEPTED',
    program: oneAfterTheOther(2),
    check: expectOneCard,
  },
  {
    attack: 71,
    name: 'one card as sixteen',
    how: 'serves sixteen series in turn; with the round under way credited to each they counted as three cards',
    expected: 'ACCEPTED',
    program: oneAfterTheOther(16),
    check: expectOneCard,
  },
  {
    attack: 13,
    name: 'memory read, for comparison',
    how: 'an honest device whose reads take time',
    expected: 'ACCEPTED',
    options: memory,
    program: withDevices(Reads),
    check: expectBandwidth(0.95, 1.001),
  },
  {
    attack: 13,
    name: 'memory recomputed on the fly',
    how: 'keeps only seeds; every tile right, and a hundred times slower',
    expected: 'ACCEPTED',
    options: memory,
    program: withDevices(Recomputes),
    check: expectBandwidth(0, 0.03),
  },
  {
    attack: 13,
    name: 'memory parked behind a link',
    how: 'every read twenty times slower',
    expected: 'ACCEPTED',
    options: memory,
    program: withDevices(ParksInHostMemory),
    check: expectBandwidth(0, 0.06),
  },
  {
    attack: 15,
    name: 'a replaced program that works',
    how: 'claims the release by name; the proof does not rely on it',
    expected: 'ACCEPTED',
    program: (kit) => honestProgram({ devices: honestDevices(kit), inventory: lyingRelease }),
  },
  {
    attack: 15,
    name: 'a replaced program that cheats',
    how: 'claims the release by name and skips half of the tiles',
    expected: 'OPENING_DOES_NOT_REACH_ROOT',
    options: { openings: 32 },
    program: (kit) =>
      honestProgram({
        devices: [new (skipTiles(0.5))({ engine: kit.engine }, kit)],
        inventory: lyingRelease,
      }),
  },
  {
    attack: 17,
    name: 'a jumping wall clock',
    how: 'hours back and forth between the roots',
    expected: 'ACCEPTED',
    program: jumpingWallClock,
    check: expectRateOfTheClock,
  },
  {
    attack: 41,
    name: 'a CPU named first',
    how: 'lowers k for the card behind it; only the CPU is asked',
    expected: 'ACCEPTED',
    options: { preset: PRESETS.tiny },
    program: (kit) =>
      honestProgram({
        devices: (['cpu', 'gpu'] as const).map((name) => honestDevices(kit, 1, { facts: { class: name } })[0]!),
      }),
    check: ({ judgement }) => expect(judgement.devices.map(({ identity }) => identity.status)).toEqual(['cpu']),
  },
  {
    attack: 42,
    name: 'no precision at all',
    how: 'claims to support nothing that is asked, and so has nothing to fail',
    expected: 'NOTHING_TO_ASK',
    program: (kit) => honestProgram({ devices: honestDevices(kit, 1, { facts: { precisions: [] } }) }),
  },
  {
    attack: 486,
    name: 'no precision, where memory and bind are asked too',
    how: 'has the parts left out that must last, and is a whole run all the same',
    expected: 'NOTHING_TO_ASK',
    options: { memory: true, bind: true },
    program: (kit) => honestProgram({ devices: honestDevices(kit, 1, { facts: { precisions: [] } }) }),
  },
]
