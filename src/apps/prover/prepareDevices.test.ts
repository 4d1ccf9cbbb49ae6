import { expect, test } from 'vitest'
import type { Challenge } from '../../core/proof/challenge.ts'
import type { Device } from '../../ports/device.ts'
import { prepareDevices } from './challengeRun.ts'

test('each device is told the shapes of its series, and nothing by which a series could not be found again', async () => {
  const size = { m: 64, n: 64, k: 128 }
  const base = { ...size, openings: 1, limitMs: 1, openLimitMs: 1, nonceHash: new Uint8Array(32), kept: [0, 0] }
  const parts: Challenge['parts'] = [
    { ...base, kind: 'rounds', precision: 'bf16', rounds: 4, mask: 3 },
    { ...base, kind: 'memory', precision: 'int8', rounds: 5, mask: 3, kept: [2, 2] },
    { ...base, kind: 'link', precision: 'int8', rounds: 6, mask: 3 },
    { ...base, kind: 'bind', precision: 'int8', rounds: 7, mask: 2 },
  ]
  const told: unknown[][] = [[], []]
  const devices = told.map((shapes) => ({ prepare: async (given: readonly unknown[]) => void shapes.push(...given) }))
  await prepareDevices({ parts } as Challenge, devices as Partial<Device>[] as Device[], new AbortController().signal)
  const rounds = { kind: 'rounds', precision: 'bf16', ...size, rounds: 4 }
  const bind = { kind: 'bind', precision: 'int8', ...size, rounds: 7 }
  // Spelled the same too: the CUDA driver looks a plan up by the JSON of its shape.
  expect(JSON.stringify(told)).toBe(JSON.stringify([[rounds], [rounds, bind]]))
})
