import { expect, test } from 'vitest'
import { testDeps } from '../../../../test/support/fleetKit.ts'
import { MemoryStore } from '../../../../test/support/memoryStore.ts'
import { entry, failedBox, finishOf, job, resultOf } from '../../../../test/support/storeFixtures.ts'
import { VirtualClock } from '../../../../test/support/virtualClock.ts'
import type { Finish } from '../../../ports/store.ts'
import { tellFinish } from './tellFinish.ts'

test('attack 324: whoever watches is told the points that a run gives or takes, and none where it leaves them', async () => {
  const store = new MemoryStore([entry('a')], new VirtualClock())
  await store.openRound({ number: 1, height: null, jobs: [job('a')] })
  const [taken] = await store.takeJobs({ owner: 'v', holdMs: 1, limit: 1 })
  const { box } = finishOf(taken!, 'v')
  const held = { ...taken!, box: { ...taken!.box, score: 100 } }
  const deps = testDeps(store.asStore, () => Promise.reject(new Error('unasked')))
  const told: unknown[] = []
  deps.live.subscribe((event) => told.push('score' in event ? event.score : event))
  const alone = { ...held, window: null }
  const ways: Partial<Finish['box']>[] = [
    { score: 70, scored: true },
    { score: 100, scored: false },
    { score: 100, scored: false, atMost: 120 },
    { score: 60, scored: false, atMost: 60 },
  ]
  for (const way of ways)
    tellFinish(alone, finishOf(alone, 'v', { box: { ...box, ...way } }), { id: 1, isOfBox: true }, deps)
  expect(told).toEqual([70, null, null, 60])
})

test('attack 363: points that wait for the end of their window are no score yet', async () => {
  const store = new MemoryStore([entry('a')], new VirtualClock())
  await store.openRound({ number: 1, height: null, jobs: [job('a')] })
  const [taken] = await store.takeJobs({ owner: 'v', holdMs: 1, limit: 1 })
  expect(taken!.window).not.toBeNull()
  const deps = testDeps(store.asStore, () => Promise.reject(new Error('unasked')))
  const told: unknown[] = []
  deps.live.subscribe((event) => told.push(event))
  tellFinish(taken!, finishOf(taken!, 'v'), { id: 1, isOfBox: true }, deps)
  tellFinish(
    taken!,
    finishOf(taken!, 'v', { result: resultOf({ outcome: 'rejected' }), box: failedBox }),
    { id: 2, isOfBox: true },
    deps,
  )
  // Attack 384: of a box that was changed meanwhile nothing is earned.
  for (const window of [taken!.window, null])
    tellFinish({ ...taken!, window }, finishOf({ ...taken!, window }, 'v'), { id: 3, isOfBox: false }, deps)
  const expected = [
    { score: null, waiting: 100 },
    { score: 0, waiting: null },
    { score: null, waiting: null },
    { score: null, waiting: null },
  ]
  expect(told).toMatchObject(expected)
  expect(deps.lines.map(({ fields }) => fields)).toMatchObject(expected)
})
