import { describe, expect, test } from 'vitest'
import { tensorDeviceSuite } from '../../../../../test/suites/tensorDeviceSuite.ts'
import { roundToBf16 } from './cpuProduct.ts'
import { openCpuTensors } from './openCpuTensors.ts'

tensorDeviceSuite('the CPU', async () => openCpuTensors(), { single: 2e-6, deep: 1e-5 })

describe('roundToBf16', () => {
  test('rounds to the nearest of 8 bits, ties to even', () => {
    const got = roundToBf16(Float32Array.of(1, 1 + 1 / 256, 1 + 3 / 256, 1 + 1 / 255, -1 - 1 / 64, 0))
    expect([...got]).toEqual([1, 1, 1 + 1 / 64, 1 + 1 / 128, -1 - 1 / 64, 0])
  })
})
