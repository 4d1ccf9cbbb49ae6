import { expect, test } from 'vitest'
import { testDeps, testRules } from '../../../../test/support/fleetKit.ts'
import { VirtualClock } from '../../../../test/support/virtualClock.ts'
import type { Store } from '../../../ports/store.ts'
import type { VerifyJob } from './fleet.ts'
import { openFleetRound } from './openFleetRound.ts'

const EVERY_MS = 72 * 60_000
const never: VerifyJob = () => expect.unreachable('nobody is asked')

/** What is opened when a node names one height after the other, a tenth of a fleet round apart. */
async function openedAt(heights: readonly number[]) {
  const clock = new VirtualClock()
  const opened: { readonly number: number; readonly height: number | null; readonly atUs: number }[] = []
  const store: Pick<Store, 'roundDue' | 'fleet' | 'openRound'> = {
    roundDue: async (everyMs) => clock.monotonicUs() - (opened.at(-1)?.atUs ?? -1e15) >= everyMs * 1000,
    fleet: async () => [],
    openRound: async ({ number, height }) => opened.push({ number, height, atUs: clock.monotonicUs() }) > 0,
  }
  const told = [...heights]
  const chain = { height: async () => told.shift()! }
  const rules = await testRules({ roundEveryMs: EVERY_MS })
  while (told.length > 0) {
    const deps = testDeps(store as Store, never, { clock, chain })
    const last = (opened.at(-1) ?? null) as Awaited<ReturnType<Store['lastRound']>>
    await openFleetRound(last, deps, rules, new AbortController().signal)
    await clock.sleep(EVERY_MS / 10)
  }
  return opened.map(({ number, height }) => [number, height])
}

/** Of a chain with a fleet round every 360 blocks, asked ten times in each. */
const honest = Array.from({ length: 60 }, (_, i) => 7200 + 36 * i)

test('rounds go by the chain, one for every 360 blocks', async () => {
  expect(await openedAt(honest)).toEqual(Array.from({ length: 6 }, (_, i) => [20 + i, 7200 + 360 * i]))
})

test.each([
  ['far ahead', 36_000_000],
  ['as far ahead as a number goes', Number.MAX_SAFE_INTEGER],
  ['behind', 0],
])('attack 156: a node that once names a height %s neither opens rounds nor ends them', async (_, height) => {
  expect(await openedAt(honest.with(15, height))).toEqual(await openedAt(honest))
})

test('attack 156: where it goes on so for longer than a round, or the first height is false, rounds go by time', async () => {
  for (const heights of [
    honest.map((height, i) => (i >= 15 && i < 35 ? height + 36_000_000 : height)),
    honest.with(0, 36_000_000),
  ]) {
    const opened = await openedAt(heights)
    expect(opened.length).toBeGreaterThanOrEqual(5)
    expect(opened.length).toBeLessThanOrEqual(7)
    const [first] = opened[0]!
    expect(opened.map(([number]) => number)).toEqual(opened.map((_, i) => first! + i))
  }
})

test('a validator that has rested opens one round at once', async () => {
  expect(await openedAt([...honest.slice(0, 5), ...Array.from({ length: 10 }, () => 7236), 720_000])).toEqual([
    [20, 7200],
    [21, 720_000],
  ])
})
