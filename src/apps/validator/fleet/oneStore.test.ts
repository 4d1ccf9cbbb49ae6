import { beforeEach, describe, expect, test } from 'vitest'
import { testDeps, testRules } from '../../../../test/support/fleetKit.ts'
import { all, fleetUntil, honest, useStores } from '../../../../test/support/fleetOnPostgres.ts'
import { entry } from '../../../../test/support/storeFixtures.ts'
import type { Store } from '../../../ports/store.ts'
import type { VerifyJob } from './fleet.ts'
import { openFleetRound } from './openFleetRound.ts'
import { runFleet } from './runFleet.ts'

const { fresh, another, quiet, server } = useStores()
let store: Store
beforeEach(async () => {
  store = await fresh()
})

describe('validators on one store', () => {
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
})
