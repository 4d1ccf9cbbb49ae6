import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from './systemClock.ts'
import { watchStalls } from './watchStalls.ts'

test('a moment in which this thread was busy is heard when it is free again, any other at once', async () => {
  const { heardBy, close } = watchStalls(systemClock)
  await delay(30)
  const fromUs = systemClock.monotonicUs()
  while (systemClock.monotonicUs() < fromUs + 200_000) {}
  const freeUs = systemClock.monotonicUs()
  await delay(30)
  const heardUs = heardBy(fromUs + 100_000)
  expect(heardUs).toBeGreaterThanOrEqual(freeUs)
  expect(heardUs).toBeLessThanOrEqual(systemClock.monotonicUs())
  expect(heardBy(fromUs - 10_000_000)).toBe(fromUs - 10_000_000)
  await close()
})
