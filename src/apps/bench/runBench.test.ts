import { describe, expect, test } from 'vitest'
import { scriptedCard } from '../../../test/support/scriptedCard.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import type { Device } from '../../ports/device.ts'
import { portFault } from '../../ports/faults.ts'
import { runBench } from './runBench.ts'

const never = new AbortController().signal
const GIB = 2 ** 30
const BOTH = { toCard: 55e9, toHost: 54e9 }
const SAMPLE = { smClockMhz: 1700, powerWatts: 690, powerLimitWatts: 700, temperatureC: 61, throttle: 'powerLimit' }

function bench(make: (clock: VirtualClock) => readonly Device[], signal = never) {
  const clock = new VirtualClock()
  const steps: string[] = []
  const deps = { seconds: 1, clock, randomness: seededRandomness(1), onStep: (text: string) => steps.push(text) }
  return { steps, run: runBench(make(clock), { ...deps, precisions: ['int8', 'bf16', 'fp32'] }, signal) }
}

const card = (clock: VirtualClock, more: Partial<Parameters<typeof scriptedCard>[0]> = {}) =>
  scriptedCard({
    clock,
    name: 'NVIDIA H200',
    memoryBytes: 141 * GIB,
    rates: { int8: 1284e12, bf16: 793e12 },
    bandwidth: 4.3e12,
    ...more,
  })

const near = (value: number) => expect.closeTo(value, -Math.floor(Math.log10(value)) + 3)

describe('runBench', () => {
  test('measures what a card does: both products, memory, host transfer, and what it says of itself meanwhile', async () => {
    const { run, steps } = bench((clock) => [
      card(clock, { transfers: { pinned: BOTH, pageable: BOTH }, sample: SAMPLE }),
    ])
    const { devices, links, faults } = await run
    expect({ links, faults }).toEqual({ links: [], faults: [] })
    expect(steps).toEqual(['int8 product', 'bf16 product', 'memory', 'host transfer'])
    expect(devices).toMatchObject([
      {
        device: 0,
        name: 'NVIDIA H200',
        uuid: 'GPU-NVIDIA H200',
        products: [
          { precision: 'int8', bareOpsPerSec: near(1284e12), provenOpsPerSec: near(0.9 * 1284e12) },
          { precision: 'bf16', bareOpsPerSec: near(793e12), provenOpsPerSec: near(0.9 * 793e12) },
        ],
        memory: { bytesPerSec: near(4.3e12) },
        transfers: { pinned: BOTH, pageable: BOTH },
        watched: {
          smClockMhz: { low: 1700, high: 1700 },
          powerLimitWatts: 700,
          throttled: [{ reason: 'powerLimit', share: 1 }],
        },
      },
    ])
    expect(devices[0]!.memory!.bytes).toBeGreaterThan(0.9 * 141 * GIB)
    expect(devices[0]!.watched.samples).toBeGreaterThan(8)
  })

  test('several cards are measured at once, and each pair of them, both ways', async () => {
    const { run } = bench((clock) => [card(clock, { link: 3.5e11 }), card(clock, { link: 2.5e10 })])
    const { devices, links } = await run
    expect(devices.map(({ device }) => device)).toEqual([0, 1])
    expect(links).toEqual([
      { from: 1, to: 0, bytesPerSec: near(3.5e11), why: null },
      { from: 0, to: 1, bytesPerSec: near(2.5e10), why: null },
    ])
  })

  test('cards that cannot reach each other say so, and all else is measured', async () => {
    const { run } = bench((clock) => [card(clock), card(clock, { link: portFault('NO_FILL') })])
    expect((await run).links).toEqual([
      { from: 1, to: 0, bytesPerSec: near(1e11), why: null },
      { from: 0, to: 1, bytesPerSec: null, why: 'NO_FILL' },
    ])
  })

  test('a card that fails is a fault; the others keep their numbers', async () => {
    const lost = portFault('DEVICE_CLOSED', { device: 'card 0' })
    const { run } = bench((clock) => [card(clock, { fault: lost }), card(clock)])
    const { devices, links, faults } = await run
    expect({ faults, links }).toEqual({ faults: [lost], links: [] })
    expect(devices.map(({ device }) => device)).toEqual([1])
  })

  test('ends when it is told to', async () => {
    const { run } = bench((clock) => [card(clock), card(clock)], AbortSignal.abort(new Error('stop')))
    await expect(run).rejects.toThrow('stop')
  })
})
