import { beforeAll, describe, expect, test } from 'vitest'
import { smallCatalogue } from '../../../../test/sim/shippedCatalogue.ts'
import { testDeps, testRules } from '../../../../test/support/fleetKit.ts'
import { inlineChecker } from '../../../../test/support/inlineChecker.ts'
import {
  honestProgram,
  openInProcessBox,
  type ProverProgram,
  type Tampering,
  tampered,
} from '../../../../test/support/inProcessBox.ts'
import { MemoryStore } from '../../../../test/support/memoryStore.ts'
import { openReferenceDevice, ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { seededRandomness } from '../../../../test/support/seededRandomness.ts'
import { entry } from '../../../../test/support/storeFixtures.ts'
import { testEngine } from '../../../../test/support/testEngine.ts'
import { testSigner } from '../../../../test/support/testSigner.ts'
import { TINY } from '../../../../test/support/verifyInProcess.ts'
import { VirtualClock } from '../../../../test/support/virtualClock.ts'
import type { Catalogue } from '../../../core/identify/catalogue.ts'
import { MAX_VERIFY_SECONDS } from '../../../core/lease/leaseBook.ts'
import type { Precision } from '../../../core/params/precision.ts'
import { PRESETS, type Preset } from '../../../core/params/presets.ts'
import type { TileEngine } from '../../../core/proof/tileEngine.ts'
import type { JobKind } from '../../../core/schedule/boxState.ts'
import { fault } from '../../../drivers/gpu/cuda/faults.ts'
import { fault as remoteFault } from '../../../drivers/remote/faults.ts'
import { systemRandomness } from '../../../drivers/system/systemRandomness.ts'
import type { OnRoot, SeriesTask } from '../../../ports/device.ts'
import type { Finish, TakenJob } from '../../../ports/store.ts'
import { type VerifyOptions, verifyBox } from '../verifyBox.ts'
import type { FleetRules, VerifyJob } from './fleet.ts'
import { runFleet } from './runFleet.ts'

let engine: TileEngine
let catalogue: Catalogue
beforeAll(async () => {
  engine = await testEngine()
  catalogue = await smallCatalogue()
})

const ROUND_MS = 1000
const HOUR_MS = 3_600_000

/** One card: whoever uses it makes the others wait. */
class Card {
  readonly #clock: VirtualClock
  readonly #roundMs: number
  #turn: Promise<void> = Promise.resolve()
  users = 0
  constructor(clock: VirtualClock, roundMs = ROUND_MS) {
    this.#clock = clock
    this.#roundMs = roundMs
  }

  async round(): Promise<void> {
    const before = this.#turn
    let done = () => {}
    this.#turn = new Promise((resolve) => {
      done = resolve
    })
    this.users++
    await before
    await this.#clock.sleep(this.#roundMs)
    this.users--
    done()
  }

  /** Until nobody has used it for longer than the gap between two rounds. */
  async idle(signal: AbortSignal): Promise<void> {
    for (let quiet = 0; quiet < 3 && !signal.aborted; quiet = this.users === 0 ? quiet + 1 : 0)
      await this.#clock.sleep(this.#roundMs)
  }
}

interface Scene {
  readonly clock: VirtualClock
  readonly store: MemoryStore
  readonly results: (boxId: string) => readonly Finish[]
}

interface Play {
  readonly hours: number
  readonly fixedRounds?: number
  readonly precisions?: readonly Precision[]
  readonly asked?: Partial<VerifyOptions>
}

/** A fleet in virtual time for so many hours, a round each; every box is a program, or null: it never lets us in. */
async function play(
  ids: readonly string[],
  programOf: (boxId: string, clock: VirtualClock, kind: JobKind) => ProverProgram | null | Promise<ProverProgram>,
  { hours, fixedRounds = 8, precisions = ['int8', 'fp16'], asked, ...more }: Partial<FleetRules> & Play,
): Promise<Scene> {
  const clock = new VirtualClock()
  const store = new MemoryStore(
    ids.map((id) => entry(id)),
    clock,
  )
  const preset = { ...PRESETS.tiny, fixedRounds }
  const full: VerifyOptions = { ...TINY, precisions, preset, sustainedSeconds: 1, ...asked }
  const verify: VerifyJob = (job, hooks, signal) =>
    verifyBox(
      job.kind === 'light' ? TINY : full,
      {
        clock,
        randomness: systemRandomness,
        signer: testSigner(1),
        checker: inlineChecker(engine),
        catalogue,
        connect: async (inner) => {
          const program = await programOf(job.boxId, clock, job.kind)
          return program === null ? await forever(inner) : openInProcessBox(program)
        },
        ...hooks,
      },
      signal,
    )
  const { score: usual } = await testRules()
  // Full marks for one operation a second: a stand-in computes too slowly to earn a point of the usual score.
  const rates = { int8: 1, fp8: 1, bf16: 1, fp16: 1, fp32: 1 }
  const rules = await testRules({
    score: { ...usual, reference: { ...usual.reference, rates } },
    cohortSize: 8,
    concurrency: 8,
    roundEveryMs: HOUR_MS,
    pollMs: 20_000,
    startLimitMs: 300_000,
    stallMs: 120_000,
    jobLimitMs: 900_000,
    retries: { limit: 2, intervalMs: 300_000 },
    ...more,
  })
  const stop = new AbortController()
  const running = runFleet(
    testDeps(store.asStore, verify, { clock, randomness: seededRandomness(1) }),
    rules,
    stop.signal,
  )
  await clock.sleep(hours * HOUR_MS - 1000)
  stop.abort()
  await running
  const results = (boxId: string) => store.results.filter(({ job }) => job.box.id === boxId)
  return { clock, store, results }
}

const forever = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

const CARD = { class: 'gpu', backEnd: 'cuda', name: 'Card' } as const

const cardOn = (card: Card, facts: Partial<ReferenceDevice['facts']> = {}) =>
  openReferenceDevice({
    engine,
    facts: { ...CARD, ...facts },
    costs: { round: () => card.round() },
  })

const outcomes = (results: readonly Finish[]) => results.map(({ result: { outcome, code } }) => code ?? outcome)

/** Two boxes that run at once on one card: the first round of one and the last of the other are theirs alone. */
const AT_ONCE = 1.1

/** Operations a second of a card, one tiny round each. */
const FULL_SPEED = (64 * 64 * 64 * 2) / (ROUND_MS / 1000)

/** The best rate of a result in any part, as a share of what the card shows alone. */
const shareOf = ({ result }: Finish): number => {
  const rates = result.figures.filter(({ name }) => /^(rate|sustained)\./.test(name)).map(({ value }) => value)
  return Math.max(0, ...rates) / FULL_SPEED
}

const BUSY = { type: 'fault', code: 'GPU_BUSY', text: 'the card is taken' } as const

/** The program of a box that shares the card. */
type Sharing = (boxId: string, card: Card, clock: VirtualClock, kind: JobKind) => ProverProgram

/** Of all that boxes on one card could show of it after the first rounds, how much they hold while they hold it. */
async function heldBy(
  sharing: readonly string[],
  programOf: Sharing,
  { hours = 6, ...more }: Partial<FleetRules> & { readonly hours?: number } = {},
): Promise<number> {
  const shared = new Map<VirtualClock, Card>()
  const { store } = await play(
    [...sharing, 'c', 'd'],
    (boxId, clock, kind) => {
      if (!sharing.includes(boxId)) return honestProgram({ devices: [cardOn(new Card(clock))] })
      const card = shared.get(clock) ?? new Card(clock)
      shared.set(clock, card)
      return programOf(boxId, card, clock, kind)
    },
    { hours, ...more },
  )
  const latest = new Map<string, { share: number; score: number; fromUs: number }>()
  let total = 0
  const [from, until] = [2, hours].map((hour) => hour * HOUR_MS * 1000)
  const account = (boxId: string, untilUs: number) => {
    const last = latest.get(boxId)
    if (last) total += last.share * Math.max(0, Math.min(untilUs, until!) - Math.max(last.fromUs, from!))
  }
  for (const finish of store.results) {
    const { id } = finish.job.box
    const { scored, lowered, score } = finish.box
    if (!sharing.includes(id) || !(scored || lowered)) continue
    account(id, finish.atUs)
    const before = latest.get(id)
    const share = lowered ? before!.share * (score / before!.score) : shareOf(finish)
    latest.set(id, { share, score, fromUs: finish.atUs })
  }
  for (const id of sharing) account(id, until!)
  for (const id of ['c', 'd'])
    expect(store.results.filter(({ job, box }) => job.box.id === id && box.failed)).toEqual([])
  return total / (until! - from!)
}

describe('attack 77: two boxes share one card', () => {
  async function held(dodge: (card: Card, clock: VirtualClock, signal: AbortSignal) => Tampering): Promise<number> {
    const stop = new AbortController()
    const share = await heldBy(['a', 'b'], (boxId, card, clock) => {
      const honest = honestProgram({ devices: [cardOn(card)] })
      return boxId === 'b' ? tampered(honest, dodge(card, clock, stop.signal)) : honest
    })
    stop.abort()
    return share
  }

  test('both at once show half each', async () => {
    const share = await held(() => ({}))
    expect(share).toBeGreaterThan(0.9)
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('waiting until the other is done gains nothing', async () => {
    const share = await held((card, _clock, signal) => ({
      onAnswer: async (answer, line) => {
        if (answer.type === 'ready') await card.idle(signal)
        await line.answer(answer)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('waiting until the other must be done gains nothing', async () => {
    const share = await held((_card, clock) => ({
      onAnswer: async (answer, line) => {
        if (answer.type === 'ready') await clock.sleep(330_000)
        await line.answer(answer)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('being busy whenever the other is at work gains nothing', async () => {
    const share = await held((card) => ({
      onAnswer: async (answer, line) => {
        const busy = answer.type === 'ready' && card.users > 0
        await line.answer(busy ? BUSY : answer)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('being busy every second time keeps what was earned beside the other, and never a whole card', async () => {
    let asked = 0
    const share = await held(() => ({
      onAnswer: (answer, line) => line.answer(answer.type === 'ready' && asked++ % 2 === 0 ? BUSY : answer),
    }))
    expect(share).toBeLessThan(1.4)
  })

  test.each([
    ['the first part', (part: number) => part === 0],
    ['every part', () => true],
  ])('stalling in %s until the other is done with it gains nothing', async (_, stalls) => {
    const share = await held((card, _clock, signal) => ({
      onOrder: async (order, line) => {
        if (order.type === 'start' && stalls(order.part)) await card.idle(signal)
        await line.order(order)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('a run that is begun anew after the window is void, and the second one a failure', async () => {
    // It says that a card is lost which never was, and runs again when the other is done (attack 64).
    const lost = fault('GPU_LOST', { what: 'gone', mend: 'Believe it.' })
    class Phantom extends ReferenceDevice {
      readonly #card: Card
      constructor(card: Card) {
        super({ engine, facts: { class: 'gpu', backEnd: 'cuda', name: 'Card' } })
        this.#card = card
      }
      override async runSeries(_task: SeriesTask, _onRoot: OnRoot, signal: AbortSignal): Promise<void> {
        await this.#card.idle(signal)
        throw lost
      }
    }
    const { results } = await play(
      ['a', 'b'],
      (boxId, clock) => {
        const card = new Card(clock)
        const devices = boxId === 'a' ? [cardOn(card)] : [cardOn(card), new Phantom(card)]
        return honestProgram({ devices })
      },
      { hours: 2 },
    )
    expect(outcomes(results('a'))).toEqual(['accepted', 'accepted'])
    expect(results('b').map(({ result, box }) => [result.outcome, result.code, box.failed])).toEqual([
      ['void', 'WINDOW_MISSED', false],
      ['void', 'WINDOW_MISSED', true],
    ])
  })

  test.each([
    ['for as long as the other waits', 20_000],
    ['for longer than the other waits', 70_000],
  ])('stalling with the openings between two parts %s gains nothing', async (_, milliseconds) => {
    const share = await held((card, clock, signal) => ({
      onOrder: async (order, line) => {
        if (order.type === 'reveal' && order.part === 0) await clock.sleep(milliseconds).then(() => card.idle(signal))
        await line.order(order)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })
})

describe('attack 125: a box on the card of another is measured apart from it', () => {
  test.each([
    ['by silence and then busy in its light looks', BUSY],
    ['by silence and then nothing in its light looks', null],
  ])('%s: gains nothing', async (_, ends) => {
    const looked = new Set<number>()
    const never = new AbortController().signal
    const share = await heldBy(
      ['a', 'b'],
      (boxId, card, clock, kind) => {
        const honest = honestProgram({ devices: [cardOn(card)] })
        if (boxId === 'a') return honest
        // Where it is not beside the other it waits until that one is done.
        if (kind === 'full')
          return tampered(honest, {
            onAnswer: async (answer, line) => {
              if (answer.type === 'ready' && looked.size > 0) await card.idle(never)
              await line.answer(answer)
            },
          })
        const hour = Math.floor(clock.monotonicUs() / 1000 / HOUR_MS)
        if (looked.has(hour)) return honest
        looked.add(hour)
        return tampered(honest, {
          onAnswer: async (answer, line) => {
            if (answer.type === 'ready') await clock.sleep(31_000)
            if (answer.type !== 'ready') await line.answer(answer)
            else if (ends) await line.answer(ends)
            else throw fault('GPU_LOST', { what: 'gone', mend: 'Believe it.' })
          },
        })
      },
      { hours: 4, probes: true, maxDelayMs: 1_200_000 },
    )
    expect(share).toBeGreaterThan(0.5)
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('a fleet of one box earns alone', async () => {
    const { results } = await play(['a'], (_, clock) => honestProgram({ devices: [cardOn(new Card(clock))] }), {
      hours: 2,
    })
    expect(results('a').map(({ box }) => box.scored && box.score > 0)).toEqual([true, true])
  })

  test('a box that was away is asked among those that hang, and earns again in the round after that', async () => {
    const awayHours = [1]
    const { results } = await play(
      ['a', 'b', 'c'],
      (boxId, clock) => {
        const hour = Math.floor(clock.monotonicUs() / 1000 / HOUR_MS)
        const isAway = boxId === 'a' && awayHours.includes(hour)
        return isAway ? null : honestProgram({ devices: [cardOn(new Card(clock))] })
      },
      { hours: 4, retries: { limit: 0, intervalMs: 0 } },
    )
    const history = results('a').map(({ result, box }) => [result.outcome, box.scored, box.score > 0])
    expect(history).toEqual([
      ['accepted', true, true],
      ['void', false, true],
      ['accepted', false, true],
      ['accepted', true, true],
    ])
    for (const id of ['b', 'c'])
      expect(results(id).map(({ result, box }) => [result.outcome, box.scored])).toEqual(
        Array.from({ length: 4 }, () => ['accepted', true]),
      )
  })

  test('a box whose only mate is gone earns alone from the round on in which that one has lost its score', async () => {
    const { results } = await play(
      ['a', 'b'],
      (boxId, clock) =>
        boxId === 'b' && clock.monotonicUs() > HOUR_MS * 1000
          ? null
          : honestProgram({ devices: [cardOn(new Card(clock))] }),
      { hours: 5 },
    )
    expect(results('a').map(({ result, box }) => [result.outcome, box.scored])).toEqual([
      ['accepted', true],
      ['accepted', false],
      ['accepted', false],
      ['accepted', true],
      ['accepted', true],
    ])
  })
})

describe('attack 126: boxes on one card say that their drivers have changed, and are proven at once, alone', () => {
  test('four boxes hold one card', async () => {
    let told = 0
    const boxes = Array.from({ length: 4 }, (_, i) => `s${i}`)
    const share = await heldBy(
      boxes,
      (_, card) => honestProgram({ devices: [cardOn(card, { details: { driver: `550.${told++}` } })] }),
      { hours: 3, probes: true },
    )
    expect(share).toBeGreaterThan(0.9)
    expect(share).toBeLessThan(AT_ONCE)
  })
})

describe('attack 127: boxes on one card offer different precisions, so that their parts have different numbers', () => {
  const ALL = ['int8', 'fp8', 'bf16', 'fp16', 'fp32'] as const

  test.each<[string, readonly (readonly Precision[])[]]>([
    ['one and five', [['bf16'], ALL]],
    ['one, two and five', [['bf16'], ['fp8', 'bf16'], ALL]],
    ['one each', [['fp32'], ['int8'], ['fp16']]],
  ])('%s: all of them hold one card in every part that they have in common', async (_, offered) => {
    const ids = offered.map((_, i) => `s${i}`)
    let card: Card | null = null
    const { results } = await play(
      [...ids, 'c'],
      (boxId, clock) => {
        card ??= new Card(clock)
        const precisions = offered[ids.indexOf(boxId)]
        return honestProgram({ devices: [precisions ? cardOn(card, { precisions }) : cardOn(new Card(clock))] })
      },
      { hours: 1, precisions: ALL },
    )
    const sums = new Map<string, number>()
    for (const { result } of ids.flatMap(results)) {
      expect(result.outcome).toBe('accepted')
      for (const { name, value } of result.figures)
        if (/^(rate|sustained)\./.test(name)) {
          const slot = name.startsWith('sustained') ? 'sustained' : name
          sums.set(slot, (sums.get(slot) ?? 0) + value / FULL_SPEED)
        }
    }
    expect(sums.get('sustained')).toBeGreaterThan(0.9)
    for (const sum of sums.values()) expect(sum).toBeLessThan(AT_ONCE + 0.1)
  })
})

describe('attack 128: boxes that are the last at every gate, and in time', () => {
  const ALL = ['int8', 'fp8', 'bf16', 'fp16', 'fp32'] as const
  const START_MS = 110_000

  /** The others come late to the start, and then take their time with the openings of their parts. */
  const beside = (dawdlers: readonly string[], dawdleMs: (boxId: string, part: number) => number) =>
    play(
      ['honest', 'other', ...dawdlers],
      async (boxId, clock) => {
        const honest = honestProgram({ devices: [cardOn(new Card(clock))] })
        if (!dawdlers.includes(boxId) || clock.monotonicUs() < HOUR_MS * 1000) return honest
        await clock.sleep(START_MS)
        return tampered(honest, {
          onOrder: async (order, line) => {
            if (order.type === 'reveal') await clock.sleep(dawdleMs(boxId, order.part))
            await line.order(order)
          },
        })
      },
      { hours: 2, jobLimitMs: 300_000, precisions: ALL },
    )

  test('one of them is not waited for when its time is up, and costs nobody the score', async () => {
    const { results } = await beside(['x'], () => 57_000)
    for (const id of ['honest', 'other'])
      expect(results(id).map(({ result, box }) => [result.code, box.scored])).toEqual([
        [null, true],
        [null, true],
      ])
    expect(results('honest')[1]!.result.seconds).toBeLessThan(START_MS / 1000 + 200)
    expect(outcomes(results('x'))).toEqual(['accepted', 'JOB_TIMEOUT'])
  })

  test('six of them in turn: the others are done before a lease is over', async () => {
    const ids = Array.from({ length: 6 }, (_, i) => `x${i}`)
    const { results } = await beside(ids, (boxId, part) => (boxId === `x${part}` ? 45_000 : 0))
    for (const id of ['honest', 'other']) {
      const [, second] = results(id)
      expect([second!.result.code, second!.box.scored]).toEqual([null, true])
      expect(second!.result.seconds).toBeLessThan(MAX_VERIFY_SECONDS - 60)
    }
  })

  test('one that is done with every part at once makes nobody late', async () => {
    const { results } = await play(
      ['quick', 'slow'],
      (boxId, clock) =>
        honestProgram({
          devices: [boxId === 'quick' ? openReferenceDevice({ engine, facts: CARD }) : cardOn(new Card(clock))],
        }),
      { hours: 2, precisions: ALL },
    )
    expect(outcomes(results('slow'))).toEqual(['accepted', 'accepted'])
  })
})

describe('attack 134: two boxes on one card take turns at being held back', () => {
  test.each([
    ['in every round', 1],
    ['in two rounds of three', 3],
  ])('%s: they hold less than they would by saying busy', async (_, cleanEvery) => {
    const never = new AbortController().signal
    const share = await heldBy(
      ['a', 'b'],
      (boxId, card, clock, kind) => {
        const honest = honestProgram({ devices: [cardOn(card)] })
        const hour = Math.floor(clock.monotonicUs() / 1000 / HOUR_MS)
        const clean = cleanEvery > 1 && hour % cleanEvery === 0
        if (kind === 'light' || clean || (hour % 2 === 0) !== (boxId === 'a')) return honest
        return tampered(honest, {
          onOrder: async (order, line) => {
            if (order.type === 'start') await card.idle(never)
            await line.order(order)
          },
        })
      },
      { hours: 12 },
    )
    expect(share).toBeLessThan(1.4)
  })
})

describe('attack 135: alone, showing a little less', () => {
  test('lowers a score and does not make it young again', async () => {
    let told = 0
    const { store } = await play(
      ['a', 'c', 'd'],
      (boxId, clock, kind) => {
        if (boxId !== 'd') return honestProgram({ devices: [cardOn(new Card(clock))] })
        if (kind === 'light') told++
        const slow = told > 0 ? ROUND_MS * 0.01 : 0
        const costs = { round: () => clock.sleep(ROUND_MS + slow) }
        const facts = { ...CARD, details: { driver: `550.${told}` } }
        return honestProgram({ devices: [openReferenceDevice({ engine, facts, costs })] })
      },
      { hours: 12, roundEveryMs: 12 * HOUR_MS, probes: true, maxDelayMs: 60_000 },
    )
    const [first, ...alone] = store.results.filter(({ job }) => job.box.id === 'd' && (job as TakenJob).kind === 'full')
    expect(first!.box.scored).toBe(true)
    expect(alone.length).toBeGreaterThan(0)
    expect(alone[0]!.box).toMatchObject({ scored: false, lowered: true })
    expect(alone[0]!.box.score).toBeLessThan(first!.box.score)
    for (const { box } of alone) expect(box.scored).toBe(false)
  })
})

describe('attack 136: of two boxes on one card one asks for a long part, the other for a short one', () => {
  const preset = { ...PRESETS.devnet, size: 64, openings: 4 }
  const asked = { preset, openings: 4, partSeconds: 3, sustainedSeconds: 0 }
  const never = new AbortController().signal

  async function played(waits: boolean) {
    let shared: Card | null = null
    const { results } = await play(
      ['a', 'b', 'c'],
      (boxId, clock) => {
        if (boxId === 'c') return honestProgram({ devices: [cardOn(new Card(clock, 60))] })
        shared ??= new Card(clock, 60)
        const card = shared
        let challenges = 0
        const round = async () => {
          await card.round()
          if (boxId === 'b' && challenges < 3) await clock.sleep(54)
        }
        const held: Parameters<NonNullable<Tampering['onAnswer']>>[0][] = []
        return tampered(honestProgram({ devices: [openReferenceDevice({ engine, facts: CARD, costs: { round } })] }), {
          onOrder: async (order, line) => {
            if (order.type === 'challenge') challenges++
            if (order.type === 'challenge' && challenges === 1 && boxId === 'a') await clock.sleep(20_000)
            if (waits && order.type === 'start' && challenges >= 3 && boxId === 'a') await card.idle(never)
            await line.order(order)
          },
          onAnswer: async (answer, line) => {
            if (boxId === 'b' || challenges >= 3 || answer.type !== 'root') return await line.answer(answer)
            // The roots of its calibration come in one go.
            held.push(answer)
            if (answer.index < (challenges === 1 ? 1 : 3)) return
            for (const one of held.splice(0)) await line.answer(one)
          },
        })
      },
      { hours: 1, asked },
    )
    return ['a', 'b', 'c'].map((id) => results(id)[0]!)
  }

  test.each([
    ['waits for the other', true],
    ['does not wait, and is faster when the other is done', false],
  ])('it %s, in vain: what may be late is a share of the time that was planned', async (_, waits) => {
    expect(outcomes(await played(waits))).toEqual(['WINDOW_MISSED', 'accepted', 'accepted'])
  })

  test('honest boxes whose calibrations were slower or faster than their runs all count', async () => {
    const speeds: Readonly<Record<string, number>> = { a: 0.6, b: 0.9, c: 1, d: 1.5 }
    const { results } = await play(
      Object.keys(speeds),
      (boxId, clock) => {
        let challenges = 0
        const round = () => clock.sleep(60 * (challenges < 3 ? speeds[boxId]! : 1))
        return tampered(honestProgram({ devices: [openReferenceDevice({ engine, facts: CARD, costs: { round } })] }), {
          onOrder: async (order, line) => {
            if (order.type === 'challenge') challenges++
            await line.order(order)
          },
        })
      },
      { hours: 1, asked },
    )
    for (const id of Object.keys(speeds)) expect(outcomes(results(id))).toEqual(['accepted'])
  })
})

describe('attack 137: two boxes show one memory, one after the other', () => {
  test.each([
    ['fills when the other is done', true, 'WINDOW_MISSED'],
    ['fills at once', false, 'accepted'],
  ])('a box that %s', async (_, waits, outcome) => {
    const never = new AbortController().signal
    let shared: Card | null = null
    const { results } = await play(
      ['a', 'b', 'c'],
      (boxId, clock) => {
        shared ??= new Card(clock)
        const card = waits && boxId !== 'c' ? shared : new Card(clock)
        const costs = { round: () => card.round(), fillRound: () => card.round(), pass: () => card.round() }
        return tampered(honestProgram({ devices: [openReferenceDevice({ engine, facts: CARD, costs })] }), {
          onOrder: async (order, line) => {
            // int8, fp16, sustained, memory.
            if (waits && boxId === 'b' && order.type === 'start' && order.part === 3) await card.idle(never)
            await line.order(order)
          },
        })
      },
      { hours: 1, asked: { memory: true, preset: { ...PRESETS.tiny, fixedRounds: 8, fixedPasses: 8 } } },
    )
    expect(outcomes(results('b'))[0]).toBe(outcome)
    for (const id of ['a', 'c']) expect(outcomes(results(id))).toEqual(['accepted'])
  })
})

describe('attack 154: two boxes on one card show more memory than it has', () => {
  /** `b` pauses its fill until the passes of `a` are over, if it waits, and takes what `a` has held. */
  async function played(waits: boolean) {
    let aIsDone = false
    const passesUs = new Map<string, number>()
    const { results } = await play(
      ['a', 'b', 'c'],
      (boxId, clock) => {
        const round = () => clock.sleep(ROUND_MS)
        let filled = 0
        const fillRound = async () => {
          await clock.sleep(boxId === 'b' ? 3 * ROUND_MS : ROUND_MS)
          // The first round of its fill fits beside that of the other; a calibration is not asked under `tiny`.
          if (waits && boxId === 'b' && filled++ > 0) while (!aIsDone) await clock.sleep(ROUND_MS)
        }
        const costs = { round, fillRound, pass: round }
        return tampered(honestProgram({ devices: [openReferenceDevice({ engine, facts: CARD, costs })] }), {
          onOrder: async (order, line) => {
            if (order.type === 'passes') passesUs.set(boxId, clock.monotonicUs())
            if (boxId === 'a' && order.type === 'reveal' && order.part === 3) aIsDone = true
            await line.order(order)
          },
        })
      },
      { hours: 1, asked: { memory: true, preset: { ...PRESETS.tiny, fixedRounds: 8, fixedPasses: 8 } } },
    )
    return { results: ['a', 'b', 'c'].map((id) => outcomes(results(id))[0]), passesUs }
  }

  test('one that fills when the other is done does not count', async () => {
    const { results } = await played(true)
    expect(results).toEqual(['accepted', 'LATE_ROOT', 'accepted'])
  })

  test('all that hold a fill begin their passes in the same moment, however long they filled', async () => {
    const { results, passesUs } = await played(false)
    expect(results).toEqual(['accepted', 'accepted', 'accepted'])
    const momentsUs = [...passesUs.values()]
    expect(momentsUs).toHaveLength(3)
    expect(Math.max(...momentsUs) - Math.min(...momentsUs)).toBeLessThan(1000)
  })
})

describe('attack 163: of two boxes on one card one answers pings late, so that its passes must last long', () => {
  const PASS_MS = 60

  /** `late` lets `quick` read first, alone, and then reads alone: of its long passes that is little. */
  async function played(pongMs: number): Promise<number> {
    const preset = { ...PRESETS.mainnet, size: 64, fillBytes: 2 ** 14, openings: 4 }
    const asked = { preset, openings: 4, partSeconds: 3, sustainedSeconds: 0, memory: true }
    let shared: Card | null = null
    let quickReads = false
    const { results } = await play(
      ['quick', 'late', 'c'],
      (boxId, clock) => {
        if (boxId === 'quick' || boxId === 'late') shared ??= new Card(clock, PASS_MS)
        const card = boxId === 'c' ? new Card(clock, PASS_MS) : shared!
        let challenges = 0
        const pass = async () => {
          if (boxId === 'late' && challenges >= 3) while (quickReads) await clock.sleep(1)
          await card.round()
        }
        const round = () => clock.sleep(PASS_MS)
        const facts = { ...CARD, precisions: ['int8'] as const }
        const device = openReferenceDevice({ engine, facts, costs: { round, fillRound: round, pass } })
        return tampered(honestProgram({ devices: [device] }), {
          onOrder: async (order, line) => {
            if (order.type === 'challenge') challenges++
            if (boxId === 'late' && order.type === 'ping') await clock.sleep(pongMs)
            if (boxId === 'quick' && challenges >= 3 && (order.type === 'passes' || order.type === 'reveal'))
              quickReads = order.type === 'passes'
            // By then the other has begun.
            if (boxId === 'late' && order.type === 'passes') await clock.sleep(1)
            await line.order(order)
          },
        })
      },
      { hours: 1, precisions: ['int8'], asked },
    )
    const [quick, late, alone] = ['quick', 'late', 'c'].map((id) => {
      const { figures } = results(id)[0]!.result
      return figures.find(({ name }) => name === 'memory.bytes_per_second')?.value ?? 0
    })
    return (quick! + late!) / alone!
  }

  test.each([300, 900])('by %i ms: together they read no faster than the card', async (pongMs) => {
    expect(await played(pongMs)).toBeLessThan(1.3)
  })
})

describe('attack 138: of two boxes on one card one has a part so long that it can let the other go first', () => {
  const CARD_MS = 60

  /**
   * `quick` is slow in its calibrations, so that its part is short, and has the card first. `slow` is several devices of the
   * same card, of which the first is fast in its calibrations, so that all of them get as many rounds as that one could do.
   */
  async function played(base: Preset): Promise<number> {
    const preset = { ...base, size: 64, openings: 4 }
    const asked = { preset, openings: 4, partSeconds: 3, sustainedSeconds: 0 }
    let shared: Card | null = null
    let quickWorks = false
    const { results } = await play(
      ['quick', 'slow', 'c'],
      (boxId, clock) => {
        if (boxId === 'c') return honestProgram({ devices: [cardOn(new Card(clock, CARD_MS))] })
        shared ??= new Card(clock, CARD_MS)
        const card = shared
        const isQuick = boxId === 'quick'
        let challenges = 0
        const round = async (device: number) => {
          if (challenges < 3) await clock.sleep(isQuick ? 54 : 150 * device)
          else if (!isQuick) for (await clock.sleep(1); quickWorks; ) await clock.sleep(1)
          await card.round()
        }
        const own = Array.from({ length: isQuick ? 1 : 4 }, (_, device) =>
          openReferenceDevice({ engine, facts: CARD, costs: { round: () => round(device) } }),
        )
        return tampered(honestProgram({ devices: own }), {
          onOrder: async (order, line) => {
            if (order.type === 'challenge') challenges++
            if (order.type === 'challenge' && challenges === 1 && !isQuick) await clock.sleep(20_000)
            if (isQuick) quickWorks = order.type === 'start' && challenges >= 3
            await line.order(order)
          },
        })
      },
      { hours: 1, asked },
    )
    expect(outcomes(results('c'))).toEqual(['accepted'])
    const figures = ['quick', 'slow'].flatMap((id) => results(id)[0]!.result.figures)
    const rates = figures.filter(({ name }) => name === 'rate.int8.per_second').map(({ value }) => value)
    return rates.reduce((sum, rate) => sum + rate, 0) / ((64 * 64 * 64 * 2) / (CARD_MS / 1000))
  }

  test.each([PRESETS.devnet, PRESETS.custom])('$name: together they show no more than the card', async (preset) => {
    expect(await played(preset)).toBeLessThan(1.1)
  })
})

describe('attack 80: a release of ours that starts nowhere', () => {
  const ends: ProverProgram = async () => {}

  test('costs no box its score, while a box where alone it does not start fails', async () => {
    let broken = false
    const card = (clock: VirtualClock) => honestProgram({ devices: [cardOn(new Card(clock))] })
    const programOf = (boxId: string, clock: VirtualClock) => {
      broken ||= clock.wallTime().getTime() >= Date.UTC(2026, 0, 1, 2)
      const first = clock.wallTime().getTime() < Date.UTC(2026, 0, 1, 1)
      return broken || (boxId === 'bad' && !first) ? ends : card(clock)
    }
    const { store, results } = await play(['bad', 'b', 'c'], programOf, {
      hours: 3,
      retries: { limit: 0, intervalMs: 0 },
    })
    expect(outcomes(results('bad'))).toEqual(['accepted', 'PROVER_DID_NOT_START', 'PROVER_DID_NOT_START'])
    expect(results('bad').map(({ result }) => result.outcome)).toEqual(['accepted', 'unreachable', 'fault'])
    for (const id of ['b', 'c']) {
      expect(results(id).map(({ result }) => result.outcome)).toEqual(['accepted', 'accepted', 'fault'])
      expect(store.boxes.get(id)).toMatchObject({ status: 'verified', failuresTotal: 0 })
      expect(store.boxes.get(id)!.score).toBeGreaterThan(0)
    }
  })
})

describe('attack 79: boxes that hang', () => {
  test('25 hanging boxes do not hold up 15 others, and are asked less and less', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `box${i}`)
    const hangs = (boxId: string) => Number(boxId.slice(3)) < 25
    const silent: ProverProgram = (_io, signal) => forever(signal)
    const { store } = await play(
      ids,
      (boxId, clock) =>
        hangs(boxId)
          ? Number(boxId.slice(3)) % 2
            ? silent
            : null
          : honestProgram({ devices: [cardOn(new Card(clock))] }),
      { hours: 4, fixedRounds: 2, concurrency: 8, cohortSize: 4 },
    )
    const others = store.results.filter(({ job }) => !hangs(job.box.id))
    expect(outcomes(others)).toEqual(Array.from({ length: 4 * 15 }, () => 'accepted'))
    // The first round has to find out who hangs; from then on nobody waits for them.
    const minutes = others.map(({ atUs }) => (atUs / 60e6) % 60)
    expect(Math.max(...minutes.slice(0, 15))).toBeLessThan(15)
    expect(Math.max(...minutes.slice(15))).toBeLessThan(3)
    for (const id of ids.filter(hangs)) {
      expect(store.boxes.get(id)).toMatchObject({ score: 0, status: 'failed' })
      expect(store.results.filter(({ job }) => job.box.id === id).length).toBeLessThanOrEqual(5)
    }
  })
})

describe('attack 107: boxes that hang and hang up in time', () => {
  test('25 of them that answer light looks do not hold up 15 others, and are asked less and less', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `box${i}`)
    const hangs = (boxId: string) => Number(boxId.slice(3)) < 25
    // It is not silent for as long as would be noticed, and is gone before it could be late.
    const hangUp = async (clock: VirtualClock) => {
      await clock.sleep(119_000)
      throw remoteFault('BOX_CONNECTION_LOST', { address: 'a box', during: 'connecting' })
    }
    const { store } = await play(
      ids,
      (boxId, clock, kind) =>
        hangs(boxId) && kind === 'full' ? hangUp(clock) : honestProgram({ devices: [cardOn(new Card(clock))] }),
      { hours: 4, fixedRounds: 2, concurrency: 8, cohortSize: 4, probes: true },
    )
    const full = store.results.filter(({ job }) => (job as TakenJob).kind === 'full')
    const others = full.filter(({ job }) => !hangs(job.box.id))
    expect(outcomes(others)).toEqual(Array.from({ length: 4 * 15 }, () => 'accepted'))
    const minutes = others.map(({ atUs }) => (atUs / 60e6) % 60)
    expect(Math.max(...minutes.slice(15))).toBeLessThan(3)
    for (const id of ids.filter(hangs)) expect(store.boxes.get(id)!.stalls).toBeGreaterThan(1)
  })
})

describe('attack 111: a store that keeps its connections and answers nothing', () => {
  test.each(['queue', 'takeJobs', 'releaseJobs', 'roundDue'] as const)(
    '%s without an answer: a stop ends the fleet',
    async (silent) => {
      const clock = new VirtualClock()
      const store = new MemoryStore([entry('a')], clock)
      const never = Object.assign(store, { [silent]: () => new Promise(() => {}) }).asStore
      const verify: VerifyJob = (_job, _hooks, signal) => forever(signal)
      const stop = new AbortController()
      let ended = false
      const running = runFleet(testDeps(never, verify, { clock }), await testRules({ graceMs: 1000 }), stop.signal)
      void running.then(() => {
        ended = true
      })
      await clock.sleep(60_000)
      stop.abort()
      await clock.sleep(30_000)
      expect(ended).toBe(true)
    },
  )
})
