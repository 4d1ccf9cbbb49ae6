import { describe, expect, test } from 'vitest'
import { testDeps, testRules } from '../../../../test/support/fleetKit.ts'
import { ownMachine, tampered } from '../../../../test/support/inProcessBox.ts'
import { MemoryStore } from '../../../../test/support/memoryStore.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { CARD, Card, cardOn, engine, forever, play } from '../../../../test/support/playFleet.ts'
import { entry, job } from '../../../../test/support/storeFixtures.ts'
import { VirtualClock } from '../../../../test/support/virtualClock.ts'
import { PRESETS } from '../../../core/params/presets.ts'
import { fault } from '../../../drivers/gpu/cuda/faults.ts'
import type { OnRoot, SeriesTask } from '../../../ports/device.ts'
import { fault as appFault } from '../../shared/faults.ts'
import { Cohort } from './cohort.ts'
import { FleetRun } from './fleetRun.ts'

const honest = (clock: VirtualClock) => ownMachine({ devices: [cardOn(new Card(clock))] })
const isFirstHour = (clock: VirtualClock) => clock.wallTime().getTime() < Date.UTC(2026, 0, 1, 1)

test('attack 373: who dawdles over the greeting after a lost device does so in its own time', async () => {
  class FailsInSecondPart extends ReferenceDevice {
    #begun = 0
    override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
      if (++this.#begun === 2) throw fault('GPU_LOST', { what: 'gone', mend: 'Believe it.' })
      await super.runSeries(task, onRoot, signal)
    }
  }
  const dawdles = (clock: VirtualClock) => {
    let hellos = 0
    const devices = [cardOn(new Card(clock)), new FailsInSecondPart({ engine, facts: CARD })]
    return tampered(ownMachine({ devices }), {
      async onOrder(order, line) {
        if (order.type === 'hello') hellos++
        if (hellos > 1 && (order.type === 'hello' || order.type === 'ping')) await clock.sleep(59_000)
        await line.order(order)
      },
    })
  }
  const programOf = (_: string, clock: VirtualClock) => (isFirstHour(clock) ? honest(clock) : dawdles(clock))
  const rules = { hours: 2, cohortSize: 1, fixedRounds: 1, jobLimitMs: 100_000, retries: { limit: 0, intervalMs: 0 } }
  const { store, results } = await play(['x'], programOf, {
    ...rules,
    precisions: ['int8', 'fp16'],
    asked: { sustainedSeconds: 0 },
  })
  expect(results('x').map(({ result, box }) => [result.outcome, result.code, box.failed])).toEqual([
    ['accepted', null, false],
    ['unreachable', 'JOB_TIMEOUT', true],
  ])
  expect(store.boxes.get('x')).toMatchObject({ status: 'failed', score: 0 })
})

describe('attack 375: who comes to its checks within a second after its time', () => {
  const asked = { preset: { ...PRESETS.tiny, name: 'devnet', fixedRounds: 2 }, sustainedSeconds: 0 } as const
  const rules = {
    asked,
    precisions: ['int8'],
    pollMs: 5_000,
    checkMs: 150,
    retries: { limit: 0, intervalMs: 0 },
  } as const

  /** Answers each of its challenges at such a time after it was asked. */
  const late = (clock: VirtualClock, ...endsMs: readonly number[]) => {
    let helloMs = 0
    let challenges = 0
    const until = (ms: number) => clock.sleep(Math.max(0, ms - clock.monotonicUs() / 1000 + helloMs))
    return tampered(honest(clock), {
      async onOrder(order, line) {
        if (order.type === 'hello') helloMs = clock.monotonicUs() / 1000
        if (order.type === 'challenge') challenges++
        await line.order(order)
      },
      async onAnswer(answer, line) {
        const endMs = endsMs[challenges - 1] ?? 0
        if (answer.type === 'welcome') await until(50_000)
        // Never silent for as long as would be noticed.
        if (answer.type === 'ready') await until(endMs - 55_000)
        if (answer.type === 'result') await until(endMs)
        await line.answer(answer)
      },
    })
  }

  test('or whom a timer ends a moment too soon, is not excused', async () => {
    const clock = new VirtualClock()
    const store = new MemoryStore([entry('late')], clock)
    await store.openRound({ number: 1, height: null, jobs: [job('late')] })
    const [taken] = await store.takeJobs({ owner: 'v', holdMs: 1, limit: 1 })
    const deps = testDeps(store.asStore, (_, __, signal) => forever(signal), { clock })
    const hooks = { keyHolder: async () => null, proverStarted: () => {}, releaseRuns: async () => true }
    const fleet = { ...deps, rules: await testRules(), ...hooks }
    const run = new FleetRun(taken!, new Cohort([taken!.id], 1_000_000, clock), fleet)
    const left = run.verify()
    await clock.sleep(49_999)
    run.stop(appFault('WINDOW_MISSED'), 50_000)
    expect((await left)?.told.code).toBe('WINDOW_MISSED')
  })

  test('has missed the start', async () => {
    const programOf = (id: string, clock: VirtualClock) =>
      id === 'late' ? late(clock, 145_000, 240_000, 240_000) : honest(clock)
    const { results } = await play(['late', 'b', 'c'], programOf, { ...rules, hours: 1, startLimitMs: 239_100 })
    expect(results('late').map(({ result, box }) => [result.code, box.missed])).toEqual([['WINDOW_MISSED', 1]])
  })

  test('has taken too long', async () => {
    const programOf = (_: string, clock: VirtualClock) => late(clock, 90_000, 145_000, 200_000)
    const { results } = await play(['late'], programOf, { ...rules, hours: 1, cohortSize: 1, jobLimitMs: 199_100 })
    expect(results('late').map(({ result, box }) => [result.code, box.failed])).toEqual([['JOB_TIMEOUT', true]])
  })
})
