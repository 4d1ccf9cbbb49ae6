import { describe, expect, test } from 'vitest'
import { tensorDeviceSuite } from '../../../../../test/suites/tensorDeviceSuite.ts'
import {
  compileKernels,
  emulateCublasLt,
  emulateDriver,
  whyNoEmulator,
} from '../../../../../test/support/cudaEmulator/emulateCuda.ts'
import { noise } from '../../../../../test/support/tensorTrials.ts'
import { CudaTensorDevice } from './cudaTensorDevice.ts'

const why = whyNoEmulator()
if (why !== null) console.log(`the CUDA kernels of the workload are not emulated here: ${why}`)

describe.skipIf(why !== null)('the CUDA driver of the workload, its kernels compiled for this machine', () => {
  const emulator = why === null ? compileKernels('workload') : null
  const open = (api = emulateDriver(emulator!)) =>
    new CudaTensorDevice({ api, name: 'emulated', context: 1n, library: emulateCublasLt(), ptx: '' })

  // exp2 and log2 are this machine's; a card's own differ in the last bits.
  tensorDeviceSuite('an emulated card', async () => open(), { single: 1e-5, deep: 5e-3 })

  test('gives back all memory, rounded copies included', async () => {
    const api = emulateDriver(emulator!)
    const device = open(api)
    const parameters = device.allocate(64)
    const [a, c] = [device.allocate(64), device.allocate(64)]
    device.product({ a, b: device.view(parameters, 0, 64), c, m: 8, n: 8, k: 8 })
    for (const tensor of [parameters, a, c]) device.free(tensor)
    await device.close()
    expect(api.held.size).toBe(0)
  })

  test('a rounded copy of parameters is made anew when they change', async () => {
    const device = open()
    const [parameters, a, c] = [device.allocate(64), device.allocate(64), device.allocate(64)]
    const weight = device.view(parameters, 0, 64)
    device.write(
      a,
      Float32Array.from({ length: 64 }, (_, i) => (i % 9 === 0 ? 1 : 0)),
    )
    for (const key of [1, 2]) {
      const values = noise(64, key).map((value) => Math.round(8 * value) + 0.5)
      device.write(device.view(parameters, 0, 64), values)
      device.product({ a, b: weight, c, m: 8, n: 8, k: 8, bTransposed: true })
      expect([...(await device.read(c))]).toEqual([...values])
    }
  })

  test('copies from another card', async () => {
    const [one, two] = [open(), open()]
    const [from, to] = [one.allocate(5), two.allocate(5)]
    one.write(from, Float32Array.of(1, 2, 3, 4, 5))
    two.copy(to, from)
    expect([...(await two.read(to))]).toEqual([1, 2, 3, 4, 5])
  })
})
