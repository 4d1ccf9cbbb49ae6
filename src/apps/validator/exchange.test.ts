import { expect, test } from 'vitest'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { PRESETS } from '../../core/params/presets.ts'
import { planSizing } from '../../core/proof/planRun.ts'
import { Exchange } from './exchange.ts'
import type { Line } from './greetProver.ts'

test('attack 409: T0 is told when it is read, however long a box takes to let the order through', async () => {
  const clock = new VirtualClock()
  const told: number[] = []
  const session = {
    async send() {
      const atUs = clock.monotonicUs()
      await clock.sleep(1700)
      return atUs
    },
  }
  const line = { session, clock, randomness: seededRandomness(1), signal: new AbortController().signal }
  const plan = planSizing({
    ...{ preset: PRESETS.tiny, devices: [{ class: 'gpu', memoryBytes: 1e9, freeBytes: 1e9 }], precisions: ['int8'] },
    ...{ memory: false, bind: false, openings: 4, partSeconds: 0, sustainedSeconds: 0 },
    ...{ maxSize: 64, roundTripSeconds: 0 },
  })
  const onProgress = () => void told.push(clock.monotonicUs())
  const to = { plan, proverKey: new Uint8Array(32), deviceCount: 1, signer: testSigner(1), onProgress }
  const { t0Us } = await new Exchange(to, line as unknown as Line).start(0)
  expect(told).toHaveLength(1)
  expect(told[0]! - t0Us).toBeLessThan(1000)
  expect(clock.monotonicUs() - t0Us).toBeGreaterThanOrEqual(1_700_000)
})
