import { beforeEach, describe, expect, test } from 'vitest'
import { testDeps, testRules } from '../../../../test/support/fleetKit.ts'
import {
  all,
  card,
  fleetUntil,
  honest,
  unreachable,
  useStores,
  verifying,
} from '../../../../test/support/fleetOnPostgres.ts'
import { ownMachine } from '../../../../test/support/inProcessBox.ts'
import { entry } from '../../../../test/support/storeFixtures.ts'
import { textOf } from '../../../../test/support/textOf.ts'
import type { LiveEvent } from '../../../ports/liveRuns.ts'
import type { Store } from '../../../ports/store.ts'
import type { VerifyJob } from './fleet.ts'

const { fresh, quiet } = useStores()
let store: Store
beforeEach(async () => {
  store = await fresh()
})

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
})
