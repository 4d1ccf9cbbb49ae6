import { describe, expect, test } from 'vitest'
import { testDeps, testRules } from '../../../../test/support/fleetKit.ts'
import { ownMachine, type ProverProgram, tampered } from '../../../../test/support/inProcessBox.ts'
import { MemoryStore } from '../../../../test/support/memoryStore.ts'
import { Card, cardOn, forever, outcomes, play } from '../../../../test/support/playFleet.ts'
import { entry } from '../../../../test/support/storeFixtures.ts'
import { VirtualClock } from '../../../../test/support/virtualClock.ts'
import { VirtualLanes } from '../../../../test/support/virtualLanes.ts'
import { MARK_BYTES } from '../../../core/params/hostParts.ts'
import { PRESETS } from '../../../core/params/presets.ts'
import type { Answer } from '../../../core/wire/messages.ts'
import { fault as remoteFault } from '../../../drivers/remote/faults.ts'
import type { TakenJob } from '../../../ports/store.ts'
import type { VerifyJob } from './fleet.ts'
import { runFleet } from './runFleet.ts'

describe('attack 80: a release of ours that starts nowhere', () => {
  const ends: ProverProgram = async () => {}

  test('costs no box its score, while a box where alone it does not start fails', async () => {
    let broken = false
    const card = (clock: VirtualClock) => ownMachine({ devices: [cardOn(new Card(clock))] })
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
          : ownMachine({ devices: [cardOn(new Card(clock))] }),
      { hours: 4, fixedRounds: 2, concurrency: 40, cohortSize: 40 },
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
        hangs(boxId) && kind === 'full' ? hangUp(clock) : ownMachine({ devices: [cardOn(new Card(clock))] }),
      { hours: 4, fixedRounds: 2, concurrency: 40, cohortSize: 40, probes: true },
    )
    const full = store.results.filter(({ job }) => (job as TakenJob).kind === 'full')
    const others = full.filter(({ job }) => !hangs(job.box.id))
    expect(outcomes(others)).toEqual(Array.from({ length: 4 * 15 }, () => 'accepted'))
    const minutes = others.map(({ atUs }) => (atUs / 60e6) % 60)
    expect(Math.max(...minutes.slice(15))).toBeLessThan(3)
    for (const id of ids.filter(hangs)) expect(store.boxes.get(id)!.stalls).toBeGreaterThan(1)
  })
})

describe('attack 108: light looks beside a cohort that takes all places', () => {
  test('neither waits for the other, however long it takes', async () => {
    const clock = new VirtualClock()
    const free = Array.from({ length: 8 }, (_, i) => `box${i}`)
    const store = new MemoryStore(
      [...free, 'slow', 'late'].map((id) => entry(id)),
      clock,
    )
    const planned = { round: 1, reason: 'round' } as const
    const look = (boxId: string, cohort: number, delayMs: number) =>
      ({ ...planned, boxId, kind: 'light', cohort, delayMs }) as const
    const cohort = free.map((boxId) => ({ ...planned, boxId, kind: 'full', cohort: 0, delayMs: 60_000 }) as const)
    const jobs = [...cohort, look('slow', 1, 0), look('late', 2, 200_000)]
    await store.openRound({ number: 1, height: null, jobs })
    const startedMs = new Map<string, number>()
    const verify: VerifyJob = async ({ boxId, kind }) => {
      startedMs.set(boxId, clock.monotonicUs() / 1000)
      await clock.sleep(kind === 'full' ? 600_000 : 110_000)
      throw remoteFault('BOX_CONNECTION_LOST', { address: 'a box', during: 'connecting' })
    }
    const limits = { startLimitMs: 900_000, stallMs: 900_000, jobLimitMs: 900_000, pollMs: 5_000 }
    const rules = await testRules({ cohortSize: 8, concurrency: 8, ...limits })
    const stop = new AbortController()
    const running = runFleet(testDeps(store.asStore, verify, { clock }), rules, stop.signal)
    await clock.sleep(900_000)
    stop.abort()
    await running
    for (const id of free) expect(startedMs.get(id)).toBeLessThan(70_000)
    expect(startedMs.get('late')).toBeLessThan(210_000)
  })
})

test('attack 240: who waits until the answers of others are checked does not hang, nor take too long', async () => {
  const ids = Array.from({ length: 12 }, (_, i) => `box${i}`)
  const { results } = await play(ids, (_, clock) => ownMachine({ devices: [cardOn(new Card(clock))] }), {
    hours: 2,
    fixedRounds: 2,
    cohortSize: 12,
    concurrency: 12,
    checkMs: 30_000,
    jobLimitMs: 300_000,
  })
  for (const id of ids)
    expect(results(id).map(({ result, box }) => [result.outcome, box.scored])).toEqual([
      ['accepted', true],
      ['accepted', true],
    ])
})

test('attack 349: who waits until walks of others are checked does not hang, and who shows no card has none checked', async () => {
  /** Marks that nobody computes: here they are only waited for. */
  class Lanes extends VirtualLanes {
    protected override lane(_: number, marks: number): Uint8Array {
      return new Uint8Array(MARK_BYTES * marks)
    }
  }
  const withHost = (clock: VirtualClock) =>
    ownMachine({
      devices: [cardOn(new Card(clock))],
      inventory: { host: { cores: 1, memoryBytes: 2 ** 24, diskFreeBytes: 2 ** 28 } },
      host: new Lanes(clock, ({ target }) => (target === 'cpu' ? 10.5e9 : 320e6)),
    })
  const withoutCard = (program: ProverProgram) =>
    tampered(program, {
      async onAnswer(answer, line) {
        if (answer.type === 'opened') answer.paths[0]! ^= 1
        await line.answer(answer)
      },
    })
  const ids = ['b', 'c', 'd', 'none', 'none2', 'none3']
  const programOf = (id: string, clock: VirtualClock) =>
    id.startsWith('none') ? withoutCard(withHost(clock)) : withHost(clock)
  // Three walks a box: those of three boxes are checked within its limit, those of six would not be.
  const rules = { hours: 1, fixedRounds: 2, walkCheckMs: 50_000, jobLimitMs: 300_000, pollMs: 5_000 }
  const { results } = await play(ids, programOf, rules)
  for (const id of ids.slice(0, 3)) expect(outcomes(results(id))).toEqual(['accepted'])
  for (const id of ids.slice(3)) expect(results(id).map(({ result }) => result.outcome)).toEqual(['rejected'])
})

describe('attack 356: calibrations that wait to be checked', () => {
  /** Two calibrations a box; the start limit is 300 s, and a box hangs after 120 s without a step. */
  const asked = { preset: { ...PRESETS.tiny, name: 'devnet', fixedRounds: 2 }, sustainedSeconds: 0 } as const
  const rules = { hours: 1, precisions: ['int8'], asked, pollMs: 5_000 } as const
  const card = (_: string, clock: VirtualClock) => ownMachine({ devices: [cardOn(new Card(clock, 100))] })

  test('are no silence, and the limit of the start does not run', async () => {
    const { store } = await play(['a', 'b', 'c', 'd'], card, { ...rules, checkMs: 50_000 })
    expect(outcomes(store.results)).toEqual(Array.from({ length: 4 }, () => 'accepted'))
  })

  test('put the start off for 280 s at most; who then waits for us has not failed', async () => {
    const { store } = await play(['a', 'b', 'c', 'd'], card, { ...rules, checkMs: 100_000 })
    const missed = store.results.filter(({ result }) => result.code === 'CHECKS_TOO_SLOW')
    for (const { atUs, result, box } of missed) {
      expect(atUs / 1e6).toBeLessThan(300 + 280 + 10)
      expect([result.outcome, box.failed, box.missed, box.stalls]).toEqual(['fault', false, 0, 0])
    }
    expect(outcomes(store.results).sort()).toEqual([
      'CHECKS_TOO_SLOW',
      'CHECKS_TOO_SLOW',
      'CHECKS_TOO_SLOW',
      'accepted',
    ])
  })

  test('nor has failed whose answers we do not check within twice the limit of a run', async () => {
    const { store } = await play(['a', 'b', 'c'], card, { hours: 1, checkMs: 60_000, jobLimitMs: 70_000 })
    const ends = store.results.map(({ result, box }) => [result.code ?? result.outcome, box.failed])
    expect(ends).toEqual([
      ['accepted', false],
      ['accepted', false],
      ['CHECKS_TOO_SLOW', false],
    ])
  })

  test.each([
    ['the start', ['a', 'b', 'c', 'slow'], { checkMs: 140_000 }],
    ['its run', ['a', 'slow'], { checkMs: 60_000, jobLimitMs: 70_000 }],
  ])('attack 379: nor has failed who still computes, in its own time, when %s is over', async (_, ids, limits) => {
    const slow = (clock: VirtualClock) =>
      tampered(card('', clock), {
        async onOrder(order, line) {
          if (order.type === 'challenge') await clock.sleep(40_000)
          await line.order(order)
        },
      })
    const programOf = (id: string, clock: VirtualClock) => (id === 'slow' ? slow(clock) : card(id, clock))
    const { results } = await play(ids, programOf, { ...rules, ...limits })
    const ends = results('slow').map(({ result, box }) => [result.code, box.failed, box.missed, box.stalls])
    expect(ends).toEqual([['CHECKS_TOO_SLOW', false, 0, 0]])
  })

  test('do not excuse who keeps us waiting after them', async () => {
    const dawdles = (clock: VirtualClock) => {
      let challenges = 0
      return tampered(card('', clock), {
        async onOrder(order, line) {
          if (order.type !== 'challenge' || ++challenges < 3) return await line.order(order)
          await clock.sleep(40_000)
          await line.answer({ type: 'fault', code: 'GPU_LOST', text: 'gone' })
        },
      })
    }
    const programOf = (id: string, clock: VirtualClock) => (id === 'dawdles' ? dawdles(clock) : card(id, clock))
    const { results } = await play(['dawdles', 'b', 'c'], programOf, { ...rules, checkMs: 20_000 })
    expect(results('dawdles').map(({ box }) => [box.failed, box.stalls])).toEqual([[true, 1]])
    for (const id of ['b', 'c']) expect(outcomes(results(id))).toEqual(['accepted'])
  })
})

describe('attack 241: a box that earns, and that newcomers do not get to know, keeps none of them from earning', () => {
  type Delay = (answer: Answer, atMs: number, t0Ms: number) => number
  /** A prover whose answers come so much later; T0 is that of its first part. */
  const slow = (clock: VirtualClock, cards: number, delayMs: Delay) => {
    const nowMs = () => clock.monotonicUs() / 1000
    let t0Ms = 0
    return tampered(ownMachine({ devices: Array.from({ length: cards }, () => cardOn(new Card(clock))) }), {
      async onOrder(order, line) {
        if (order.type === 'start' && order.part === 0) t0Ms = nowMs()
        await line.order(order)
      },
      async onAnswer(answer, line) {
        await clock.sleep(Math.max(0, delayMs(answer, nowMs(), t0Ms)))
        await line.answer(answer)
      },
    })
  }
  const opens = (answer: Answer, from: number) => answer.type === 'opened' && answer.part >= from

  test.each<[string, number, Delay, Delay | null, number]>([
    ['it is silent when its parts are over', 1, ({ type }) => (type === 'result' ? 50_000 : 0), null, 20_000],
    ['it is done 12 minutes later', 8, (answer) => (opens(answer, 2) ? 95_000 : 0), null, 120_000],
    [
      // A slot lasts 15 s, and a box is waited for 40 s. Its friend comes to the parts that only they have after it.
      'it comes to the last gate of the others right after it was opened',
      2,
      (answer, atMs, t0Ms) => (opens(answer, 0) && !opens(answer, 1) ? t0Ms + 55_200 - atMs : 0),
      (answer) => (opens(answer, 1) ? 1_000 : 0),
      120_000,
    ],
  ])('%s', async (_, cards, delayMs, friend, stallMs) => {
    const programOf = (id: string, clock: VirtualClock) => {
      if (id === 'old') return slow(clock, cards, delayMs)
      return friend && id === 'friend' ? slow(clock, cards, friend) : slow(clock, 1, () => 0)
    }
    const rules = { hours: 3, stallMs, pollMs: 5_000, asked: { sustainedSeconds: 0 } }
    const { results } = await play(['old', 'friend', 'b', 'c'], programOf, rules)
    for (const id of ['b', 'c']) expect(results(id).map(({ box }) => box.scored)).toEqual([true, true, true])
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
