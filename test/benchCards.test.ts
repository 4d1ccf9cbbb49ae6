import { describe, expect, test } from 'vitest'
import { runBench } from '../src/apps/bench/runBench.ts'
import { systemClock } from '../src/drivers/system/systemClock.ts'
import { useFakeCards } from './support/fakeCards.ts'
import { fakeNvml } from './support/fakeNvml.ts'
import { seededRandomness } from './support/seededRandomness.ts'

const never = new AbortController().signal

describe('a bench of two cards on their threads', () => {
  const cards = useFakeCards()

  test('asks of each what its driver has, hears its errors, and gives everything back', async () => {
    const nvml = fakeNvml()
    const devices = await cards.open({ ordinals: [0, 1], nvml })
    nvml.pending.push(79)
    const deps = { clock: systemClock, randomness: seededRandomness(1), seconds: 0.001, size: 64, onStep: () => {} }
    const { devices: found, links, faults } = await runBench(devices, { ...deps, precisions: ['int8'] }, never)
    expect(faults).toEqual([])
    const positive = expect.any(Number)
    expect(found).toMatchObject(
      [0, 1].map((device) => ({
        device,
        name: 'NVIDIA Fake',
        driver: '580.1',
        products: [{ precision: 'int8', size: 64, provenOpsPerSec: positive, bareOpsPerSec: positive }],
        memory: { bytes: 2 * 2 * 64 * 64, bytesPerSec: positive },
        transfers: { pinned: { toCard: positive }, pageable: { toHost: positive } },
        watched: { temperatureC: { low: 40, high: 40 } },
      })),
    )
    // Both cards of the fake answer to one address, and whoever asks first is told.
    expect(found.flatMap(({ watched }) => watched.xids)).toEqual([79])
    expect(links).toMatchObject([
      { from: 1, to: 0, bytesPerSec: positive, why: null },
      { from: 0, to: 1, bytesPerSec: positive, why: null },
    ])
    for (const device of devices) await device.close()
    expect({ contexts: cards.contexts(), watchers: nvml.sets }).toEqual({ contexts: 0, watchers: 0 })
  })
})
