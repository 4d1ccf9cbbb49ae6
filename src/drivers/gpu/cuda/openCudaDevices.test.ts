import { beforeAll, describe, expect, test } from 'vitest'
import { deviceSuite } from '../../../../test/suites/deviceSuite.ts'
import { useFakeCards } from '../../../../test/support/fakeCards.ts'
import { fakeNvml } from '../../../../test/support/fakeNvml.ts'
import { expectedFill, expectedPasses, expectedSeries } from '../../../../test/support/referenceDevice.ts'
import { testEngine } from '../../../../test/support/testEngine.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import type { TileEngine } from '../../../core/proof/tileEngine.ts'
import type { SeriesTask } from '../../../ports/device.ts'
import { loadLibcuda } from './loadLibcuda.ts'
import { openCudaDevices } from './openCudaDevices.ts'

const never = new AbortController().signal
const task: SeriesTask = { kind: 'rounds', precision: 'int8', m: 64, n: 64, k: 64, rounds: 2, seed: new Uint8Array(32) }

const cards = useFakeCards()
let engine: TileEngine
beforeAll(async () => {
  engine = await testEngine()
})

deviceSuite('cuda on a fake driver', { open: cards.openOne })

function whyNoCard(): string | null {
  try {
    return loadLibcuda().deviceCount() > 0 ? null : 'the driver shows no card'
  } catch (error) {
    return error instanceof Error ? error.message : 'no driver'
  }
}
deviceSuite('cuda', { open: async () => (await openCudaDevices({ ordinals: [0] }))[0]!, skip: whyNoCard() })

describe('openCudaDevices', () => {
  test('prepares series ahead, and runs them as if it had not', async () => {
    const device = await cards.openOne()
    await device.prepare!([task, { ...task, kind: 'bind', m: 128 }, { ...task, precision: 'bf16' }], never)
    const roots: string[] = []
    await device.runSeries(task, (root) => roots.push(toHex(root)), never)
    expect(roots).toEqual(expectedSeries(task).roots.map(toHex))
    expect(await device.runBare!(task, never)).toBeGreaterThan(0)
    await device.close()
  })

  test('§7 a fill of many units equals the reference: passes are hashed in two launches', async () => {
    const device = await cards.openOne()
    const fill = { m: 2048, n: 1024, k: 64, kept: 2, seed: new Uint8Array(32).fill(4) }
    const expected = expectedFill(fill, engine)
    await device.fill(fill, () => {}, never)
    const passTask = { passes: 2, start: new Uint8Array(32).fill(6) }
    const q: string[] = []
    await device.runPasses(passTask, (root) => q.push(toHex(root)), never)
    const passes = expectedPasses(fill, expected, passTask)
    expect(q).toEqual(passes.roots.map(toHex))
    const asked = [0, 1, 1].map((round, i) => ({ round, tile: 1777 * i + 300 }))
    expect(toHex(await device.openPasses(asked, never))).toBe(toHex(passes.paths(asked)))
    await device.close()
  })

  test('computes rounds again when their fingerprints did not fit', async () => {
    const device = await cards.openOne({ keepBytes: 64 })
    const series = { ...task, rounds: 3, m: 128 }
    await device.runSeries(series, () => {}, never)
    const asked = [2, 0, 2, 1].map((round, tile) => ({ round, tile }))
    expect(toHex(await device.openSeries(asked, never))).toBe(toHex(expectedSeries(series).paths(asked)))
    await device.close()
  })

  test('a card has the numbers of its chip from NVML', async () => {
    const device = await cards.openOne({ nvml: fakeNvml() })
    expect(device.facts.details).toMatchObject({ uuid: expect.any(String), pciDeviceId: '0x233510de' })
    await device.close()
  })

  test('without NVML the version that CUDA tells stands for the driver', async () => {
    const device = await cards.openOne({ nvml: null })
    expect(device.facts.details).toMatchObject({ driver: 'CUDA 13.0', driverCuda: '13.0' })
    await device.close()
  })

  test('a card says how fast host memory reaches it; one that cannot say still works', async () => {
    const able = await cards.openOne()
    expect(able.facts.details).toMatchObject({ hostToCardBytesPerSec: 1000 * 2 ** 20 })
    await able.close()
    cards.trouble({ failing: { cuMemcpyAsync: 1 } })
    const unable = await cards.openOne()
    expect(unable.facts.details).toMatchObject({ transferRates: 'not measured: GPU_CALL_FAILED' })
    await unable.runSeries(task, () => {}, never)
    await unable.close()
  })

  test('§2 a product that is not exact is a fault of the box, found before the run', async () => {
    cards.trouble({ inexact: true })
    const device = await cards.openOne()
    const work = device.runSeries(task, () => expect.unreachable(), never)
    await expect(work).rejects.toMatchObject({ detail: { code: 'NOT_EXACT', precision: 'int8', k: 64 } })
    await device.close()
  })

  test('a size that does not fit says what was asked and what is free, and leaves the card usable', async () => {
    const device = await cards.openOne()
    const work = device.runSeries({ ...task, m: 8192, n: 8192, k: 8192 }, () => {}, never)
    await expect(work).rejects.toMatchObject({ detail: { code: 'OUT_OF_MEMORY', askedBytes: 8192 * 8192 } })
    await device.release()
    const roots: Uint8Array[] = []
    await device.runSeries(task, (root) => roots.push(root), never)
    expect(roots).toHaveLength(2)
    await device.close()
    await expect(device.runSeries(task, () => {}, never)).rejects.toMatchObject({ detail: { code: 'DEVICE_CLOSED' } })
  })
})
