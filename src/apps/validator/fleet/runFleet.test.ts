import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../../test/sim/shippedCatalogue.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { testDeps, testRules } from '../../../../test/support/fleetKit.ts'
import { inlineChecker } from '../../../../test/support/inlineChecker.ts'
import { openInProcessBox, ownMachine, type ProverProgram } from '../../../../test/support/inProcessBox.ts'
import { openReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgresServer.ts'
import { entry } from '../../../../test/support/storeFixtures.ts'
import { testEngine } from '../../../../test/support/testEngine.ts'
import { testSigner } from '../../../../test/support/testSigner.ts'
import { textOf } from '../../../../test/support/textOf.ts'
import { TINY } from '../../../../test/support/verifyInProcess.ts'
import type { Catalogue } from '../../../core/identify/catalogue.ts'
import type { TileEngine } from '../../../core/proof/tileEngine.ts'
import { fault as remoteFault } from '../../../drivers/remote/faults.ts'
import { fault as storeFault } from '../../../drivers/store/faults.ts'
import { openPostgres } from '../../../drivers/store/openPostgres.ts'
import { fault as systemFault } from '../../../drivers/system/faults.ts'
import { systemClock } from '../../../drivers/system/systemClock.ts'
import { systemRandomness } from '../../../drivers/system/systemRandomness.ts'
import type { DeviceFacts } from '../../../ports/device.ts'
import { portFault } from '../../../ports/faults.ts'
import type { LiveEvent } from '../../../ports/liveRuns.ts'
import type { Store, TakenJob } from '../../../ports/store.ts'
import { verifyBox } from '../verifyBox.ts'
import type { FleetDeps, FleetRules, VerifyJob } from './fleet.ts'
import { openFleetRound } from './openFleetRound.ts'
import { runFleet } from './runFleet.ts'

let server: TestPostgres
let engine: TileEngine
let catalogue: Catalogue
let store: Store
let databases = 0
const open: Store[] = []

beforeAll(async () => {
  server = await startPostgres()
  engine = await testEngine()
  catalogue = await shippedCatalogue()
})
afterAll(() => server?.end())
beforeEach(async () => {
  for (const one of open.splice(0)) await one.close()
  await server.createDatabase(`f${++databases}`)
  store = await another()
})
const another = async () => {
  const made = await openPostgres({ url: server.url(`f${databases}`) })
  open.push(made)
  return made
}

const card = (more: Partial<DeviceFacts> = {}) =>
  openReferenceDevice({
    engine,
    facts: { class: 'gpu', backEnd: 'cuda', name: 'Card', details: { uuid: 'U1', driver: '1' }, ...more },
  })

/** The real verifyBox against a program in this process. */
const verifying =
  (program: (job: TakenJob) => ProverProgram): VerifyJob =>
  (job, hooks, signal) =>
    verifyBox(
      { ...TINY, claim: job.box.claim },
      {
        clock: systemClock,
        randomness: systemRandomness,
        signer: testSigner(1),
        checker: inlineChecker(engine),
        catalogue,
        ...hooks,
        connect: async () => openInProcessBox(program(job)),
      },
      signal,
    )
const honest = verifying(() => ownMachine({ devices: [card()] }))

/** Runs a fleet until the condition holds, then stops it in order. */
async function fleetUntil(deps: FleetDeps, rules: FleetRules, holds: () => Promise<boolean>): Promise<void> {
  const stop = new AbortController()
  const running = runFleet(deps, rules, stop.signal)
  try {
    await eventually(holds)
  } finally {
    stop.abort()
    await running
  }
}
const quiet = async () => {
  const { waiting, held, done } = await store.queue()
  return done > 0 && waiting + held === 0
}
const words = '\u001b[31mraw words of the box'
const unreachable = () => remoteFault('BOX_UNREACHABLE', { address: 'ssh://a', why: words })
const all = { after: null, limit: 100 }

describe('runFleet', () => {
  test('verifies every box of a round once, with figures, certificate and score', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    for (const id of ids) await store.putBox(entry(id))
    const deps = testDeps(store, honest)
    const events: string[] = []
    deps.live.subscribe(({ type }) => events.push(type))
    await fleetUntil(deps, await testRules(), quiet)
    for (const id of ids) {
      const { items } = await store.history(id, all)
      expect(items.map(({ outcome, kind }) => [outcome, kind])).toEqual([['accepted', 'full']])
      expect(items[0]!.figures.map(({ name }) => name)).toContain('rate.int8.per_second')
      expect(await textOf(await store.certificate(items[0]!.runId!))).toContain('payload')
      expect(await store.box(id)).toMatchObject({ status: 'verified', failuresTotal: 0 })
      expect((await store.box(id))!.terms.length).toBeGreaterThan(0)
    }
    expect(events.filter((type) => type === 'finished')).toHaveLength(5)
    expect(deps.metrics.text()).toContain('touchstone_jobs_total{kind="full",outcome="accepted"} 5')
    expect(await store.lastRound()).toMatchObject({ number: 1, jobs: 5, done: 5, accepted: 5 })
  })

  test('a box that is not what it is sold as does genuine work, and is not called verified', async () => {
    await store.putBox(entry('sold', { claim: 'H100 SXM' }))
    const deps = testDeps(
      store,
      verifying(() => ownMachine({ devices: [card({ class: 'cpu' })] })),
    )
    const told: LiveEvent[] = []
    deps.live.subscribe((event) => told.push(event))
    await fleetUntil(deps, await testRules(), quiet)
    expect(await store.box('sold')).toMatchObject({ status: 'claim-unmet', claimVerdict: 'different', score: 0 })
    expect((await store.history('sold', all)).items).toMatchObject([{ outcome: 'accepted', claimVerdict: 'different' }])
    expect(told.at(-1)).toMatchObject({ type: 'finished', outcome: 'accepted', claimVerdict: 'different' })
    expect(deps.lines).toContainEqual(expect.objectContaining({ level: 'warn', message: 'box is not as claimed' }))
  })

  test('attack 18: a failing box loses its score at once, is tried again with new seeds, and can come back', async () => {
    await store.putBox(entry('a'))
    let runs = 0
    const verify: VerifyJob = async (...args) => {
      if (++runs === 2) throw unreachable()
      return honest(...args)
    }
    const deps = testDeps(store, verify)
    const rules = await testRules({ retries: { limit: 2, intervalMs: 0 } })
    await fleetUntil(deps, rules, quiet)
    await store.addJob({ boxId: 'a', round: 1, kind: 'full', reason: 'asked', cohort: -1, delayMs: 0 })
    await fleetUntil(deps, rules, async () => runs === 3 && (await quiet()))
    const { items } = await store.history('a', all)
    expect(items.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['accepted', null],
      ['unreachable', 'BOX_UNREACHABLE'],
      ['accepted', null],
    ])
    expect(items[1]!.score).toBe(0)
    expect(new Set([items[0]!.runId, items[2]!.runId]).size).toBe(2)
    expect(await store.box('a')).toMatchObject({ status: 'verified', failuresTotal: 1, failuresInRow: 0 })
    expect(JSON.stringify(deps.lines)).not.toContain('raw words')
    expect(JSON.stringify(items)).not.toContain('raw words')
  })

  test('attack 18: the limit of tries ends a job; busy and our own faults are told apart from failures', async () => {
    for (const id of ['busy', 'ours', 'gone']) await store.putBox(entry(id))
    const verify: VerifyJob = async ({ boxId }) => {
      if (boxId === 'busy') throw portFault('DEVICE_BUSY', { what: words })
      if (boxId === 'ours') throw systemFault('KERNEL_FILE_MISSING', { name: words })
      throw remoteFault('SSH_AUTH_FAILED', { address: 'ssh://a', means: words })
    }
    await fleetUntil(testDeps(store, verify), await testRules({ retries: { limit: 1, intervalMs: 0 } }), quiet)
    expect(await store.box('busy')).toMatchObject({ status: 'busy', failuresTotal: 0, busyInRow: 2 })
    expect(await store.box('ours')).toMatchObject({ status: 'new', failuresTotal: 0 })
    expect(await store.box('gone')).toMatchObject({ status: 'failed', failuresTotal: 2, score: 0 })
  })

  test('attack 461: who is caught stays caught where the store refuses what it said; who is not is no failure', async () => {
    for (const id of ['caught', 'fair']) await store.putBox(entry(id))
    let refusing = false
    const picky: Store = {
      ...store,
      finishJob: async (finish) => {
        if (refusing && finish.result.inventory !== null) throw storeFault('RESULT_REFUSED', { state: '22P05' })
        return await store.finishJob(finish)
      },
    }
    const verify: VerifyJob = async (job, ...rest) => {
      const report = await honest(job, ...rest)
      if (!refusing || job.boxId === 'fair') return report
      const reason = { code: 'WRONG_LEAF', got: 'a', expected: 'b' }
      return { ...report, judgement: { ...report.judgement, outcome: 'rejected', reason } } as typeof report
    }
    const deps = testDeps(picky, verify)
    await fleetUntil(deps, await testRules(), quiet)
    const fair = (await store.box('fair'))!
    refusing = true
    for (const boxId of ['caught', 'fair'])
      await store.addJob({ boxId, round: 1, kind: 'full', reason: 'asked', cohort: -1, delayMs: 0 })
    await fleetUntil(deps, await testRules({ retries: { limit: 0, intervalMs: 0 } }), quiet)
    expect(await store.box('caught')).toMatchObject({ status: 'failed', score: 0, terms: [], failuresTotal: 1 })
    expect((await store.history('caught', all)).items[0]).toMatchObject({ outcome: 'rejected', code: 'WRONG_LEAF' })
    expect(await store.box('fair')).toMatchObject({ status: 'verified', score: fair.score, failuresTotal: 0 })
    expect((await store.history('fair', all)).items[0]).toMatchObject({ outcome: 'fault', code: 'RESULT_REFUSED' })
  })

  test('allocated boxes get a light proof only, which earns nothing', async () => {
    await store.putBox(entry('rented', { allocated: true }))
    await fleetUntil(testDeps(store, honest), await testRules(), quiet)
    const { items } = await store.history('rented', all)
    expect(items.map(({ kind, outcome }) => [kind, outcome])).toEqual([['light', 'accepted']])
    expect(await store.box('rented')).toMatchObject({ status: 'new', score: 0, scoredAt: null })
  })

  test('a light look that finds another card asks for a full proof at once and marks the history', async () => {
    await store.putBox(entry('a'))
    await store.putBox(entry('twin'))
    let uuid = 'U1'
    const verify = verifying(({ boxId }) =>
      ownMachine({ devices: [card({ details: { uuid: boxId === 'a' ? uuid : 'U9', driver: '1' } })] }),
    )
    const deps = testDeps(store, verify)
    await fleetUntil(deps, await testRules(), quiet)
    uuid = 'U9'
    await store.addJob({ boxId: 'a', round: 1, kind: 'light', reason: 'probe', cohort: -1, delayMs: 0 })
    await fleetUntil(deps, await testRules(), async () => (await store.history('a', all)).items.length === 3)
    const { items } = await store.history('a', all)
    expect(items.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['full', 'changed'],
      ['light', 'probe'],
      ['full', 'round'],
    ])
    expect(items[1]!.marks.map(({ what }) => what)).toEqual(['card', 'shared card'])
  })

  test('boxes of one cohort start in the same moment', async () => {
    for (const id of ['a', 'b', 'c']) await store.putBox(entry(id))
    const order: string[] = []
    const verify: VerifyJob = async (job, hooks, signal) => {
      if (job.boxId === 'b') throw unreachable()
      const beforeStart: typeof hooks.beforeStart = async (...part) => {
        order.push('ready')
        await hooks.beforeStart(...part)
        order.push('start')
      }
      return honest(job, { ...hooks, beforeStart }, signal)
    }
    await fleetUntil(testDeps(store, verify), await testRules({ cohortSize: 3 }), quiet)
    expect(order).toEqual(['ready', 'ready', 'start', 'start'])
  })

  test('a stop gives unfinished jobs back uncounted, and the next start does them', async () => {
    await store.putBox(entry('a'))
    let started = 0
    const hanging: VerifyJob = (_job, _hooks, signal) => {
      started++
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    }
    await fleetUntil(testDeps(store, hanging), await testRules(), async () => started === 1)
    expect(await store.queue()).toMatchObject({ waiting: 1, held: 0 })
    expect((await store.history('a', all)).items).toEqual([])
    await fleetUntil(testDeps(store, honest), await testRules(), quiet)
    expect((await store.history('a', all)).items).toHaveLength(1)
  })

  test('a box that never gets done loses its place and its score', async () => {
    await store.putBox(entry('a'))
    const hanging: VerifyJob = (_job, _hooks, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    await fleetUntil(testDeps(store, hanging), await testRules({ jobLimitMs: 50 }), quiet)
    expect((await store.history('a', all)).items[0]).toMatchObject({ outcome: 'unreachable', code: 'JOB_TIMEOUT' })
  })

  test('a box that answers garbage without end fails alone; the others are verified, and no log holds its words', async () => {
    for (const id of ['bad', 'good']) await store.putBox(entry(id))
    const garbage: ProverProgram = async ({ write }, signal) => {
      while (!signal.aborted) await write(new TextEncoder().encode('\u001b]0;evil\u0007'.repeat(500)))
    }
    const verify = verifying(({ boxId }) => (boxId === 'bad' ? garbage : ownMachine({ devices: [card()] })))
    const deps = testDeps(store, verify)
    await fleetUntil(deps, await testRules(), quiet)
    expect((await store.history('bad', all)).items[0]).toMatchObject({
      outcome: 'unreachable',
      code: 'PROVER_NOT_READY',
    })
    expect((await store.history('good', all)).items[0]).toMatchObject({ outcome: 'accepted' })
    expect(JSON.stringify(deps.lines)).not.toContain('evil')
  })

  test('a run whose job was taken over is stopped and stores nothing', async () => {
    await store.putBox(entry('a'))
    let stopped = 0
    const hanging: VerifyJob = (_job, _hooks, signal) =>
      new Promise((_, reject) =>
        signal.addEventListener(
          'abort',
          () => {
            stopped++
            reject(signal.reason)
          },
          { once: true },
        ),
      )
    const deps = testDeps(store, hanging)
    await fleetUntil(deps, await testRules({ holdMs: 300 }), async () => {
      // Another validator takes it over, as it would after a long pause of this one.
      await store.releaseJobs(null)
      await store.takeJobs({ owner: 'thief', holdMs: 60_000, limit: 1 })
      return stopped === 1
    })
    expect((await store.history('a', all)).items).toEqual([])
    expect(deps.metrics.text()).toContain('touchstone_jobs_lost_total 1')
  })

  test('attack 151: jobs that were taken by a statement whose answer was lost are taken again, once nobody keeps them', async () => {
    await store.putBox(entry('a'))
    let lost = 0
    const cut: Store['takeJobs'] = async (request) => {
      const jobs = await store.takeJobs(request)
      if (jobs.length === 0 || lost > 0) return jobs
      lost++
      throw new Error('the connection was lost')
    }
    const deps = testDeps({ ...store, takeJobs: cut }, honest)
    await fleetUntil(deps, await testRules({ holdMs: 300 }), async () => (await store.box('a'))?.status === 'verified')
    expect(lost).toBe(1)
    expect((await store.history('a', all)).items).toHaveLength(1)
  })

  test('attack 255: a window that a validator left behind is settled by the next that looks, not with the next round', async () => {
    await store.putBox(entry('a'))
    const rules = await testRules({ cohortSize: 4, concurrency: 4 })
    await fleetUntil(testDeps({ ...store, settle: async () => 0 }, honest), rules, quiet)
    expect(await store.box('a')).toMatchObject({ status: 'verified', scoredAt: null })
    const isScored = async () => (await store.box('a'))!.scoredAt !== null
    await fleetUntil(testDeps(store, honest), rules, isScored)
    expect((await store.rounds(all)).items).toHaveLength(1)
  })

  test('rounds follow the chain: one per 360 blocks, none twice', async () => {
    await store.putBox(entry('a'))
    let height = 720
    const chain = { height: async () => height }
    const rounds = async () => (await store.rounds(all)).items.map(({ number, height: at }) => [number, at])
    const rules = await testRules()
    await fleetUntil(testDeps(store, honest, { chain }), rules, quiet)
    height = 1079
    await fleetUntil(testDeps(store, honest, { chain }), rules, quiet)
    expect(await rounds()).toEqual([[2, 720]])
    height = 1081
    await fleetUntil(testDeps(store, honest, { chain }), rules, async () => (await rounds()).length === 2)
    expect(await rounds()).toEqual([
      [3, 1081],
      [2, 720],
    ])
  })

  test('the database goes away in the middle of a run and comes back: the result is there', async () => {
    await store.putBox(entry('a'))
    const verify: VerifyJob = async (...args) => {
      await server.stop()
      return await honest(...args)
    }
    const deps = testDeps(store, verify)
    const noticed = () => deps.lines.some(({ message }) => message === 'the store does not answer; trying again')
    let back: Promise<void> | null = null
    await fleetUntil(deps, await testRules(), async () => {
      if (noticed()) back ??= server.start()
      await back
      return back !== null && (await quiet().catch(() => false))
    })
    expect((await store.history('a', all)).items.map(({ outcome }) => outcome)).toEqual(['accepted'])
  })

  test('a round that another validator opens in the same moment is not followed by a second one', async () => {
    const slow: Store = {
      ...store,
      roundDue: async (everyMs) => {
        const due = await store.roundDue(everyMs)
        if (due) await store.openRound({ number: 1, height: null, jobs: [] })
        return due
      },
    }
    const last = await store.lastRound()
    await openFleetRound(last, testDeps(slow, honest), await testRules(), new AbortController().signal)
    expect(await store.lastRound()).toMatchObject({ number: 1 })
  })

  test('two validators on one store share the work and never a box', async () => {
    const ids = Array.from({ length: 30 }, (_, i) => `b${i}`)
    for (const id of ids) await store.putBox(entry(id))
    const seen: string[] = []
    const counting: VerifyJob = (job, ...rest) => {
      seen.push(job.boxId)
      return honest(job, ...rest)
    }
    const second = await another()
    const stop = new AbortController()
    const other = runFleet(testDeps(second, counting), await testRules({ owner: 'second' }), stop.signal)
    await fleetUntil(testDeps(store, counting), await testRules({ owner: 'first' }), quiet)
    stop.abort()
    await other
    expect(seen.sort()).toEqual([...ids].sort())
  })
})
