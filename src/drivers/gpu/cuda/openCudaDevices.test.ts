import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setEnvironmentData } from 'node:worker_threads'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { deviceSuite } from '../../../../test/suites/deviceSuite.ts'
import { fakeNvml } from '../../../../test/support/fakeNvml.ts'
import { expectedChain, expectedFill, expectedPasses } from '../../../../test/support/referenceDevice.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import { createEngine } from '../../../core/engine/createEngine.ts'
import type { TileEngine } from '../../../core/proof/tileEngine.ts'
import type { ChainTask, Device } from '../../../ports/device.ts'
import { kernelPath } from '../../system/kernelFiles.ts'
import { loadLibcuda } from './libcuda.ts'
import { openCudaDevices } from './openCudaDevices.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-fake-card-'))
const workerScript = pathToFileURL(join(folder, 'fakeCardWorker.js'))
const never = new AbortController().signal
const task: ChainTask = { kind: 'rounds', precision: 'int8', m: 64, n: 64, k: 64, rounds: 2, seed: new Uint8Array(32) }

let engine: TileEngine
beforeAll(async () => {
  engine = await createEngine(new Uint8Array(readFileSync(kernelPath('engine.wasm'))))
  const source = fileURLToPath(new URL('../../../../test/support/fakeCardWorker.ts', import.meta.url))
  await build({
    entryPoints: [source],
    outfile: fileURLToPath(workerScript),
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['koffi'],
    logLevel: 'error',
  })
  setEnvironmentData('fakeArena', new SharedArrayBuffer(2 ** 30))
})
afterAll(() => rmSync(folder, { recursive: true }))

const kernelFolder = fileURLToPath(new URL('../../../../kernels/built', import.meta.url))
const openFake = async (): Promise<Device> => (await openCudaDevices({ ordinals: [0], workerScript, kernelFolder }))[0]!

deviceSuite('cuda on a fake driver', { open: openFake })

function whyNoCard(): string | null {
  try {
    return loadLibcuda().deviceCount() > 0 ? null : 'the driver shows no card'
  } catch (error) {
    return error instanceof Error ? error.message : 'no driver'
  }
}
deviceSuite('cuda', { open: async () => (await openCudaDevices({ ordinals: [0] }))[0]!, skip: whyNoCard() })

describe('openCudaDevices', () => {
  afterEach(() => setEnvironmentData('fakeTrouble', {}))
  const troubled = (failing: Record<string, number>) => setEnvironmentData('fakeTrouble', { failing })

  test('prepares chains ahead, and runs them as if it had not', async () => {
    const device = await openFake()
    await device.prepare!([task, { ...task, kind: 'bind', m: 128 }, { ...task, precision: 'bf16' }], never)
    const roots: string[] = []
    await device.runChain(task, (root) => roots.push(toHex(root)), never)
    expect(roots).toEqual(expectedChain(task).roots.map(toHex))
    expect(await device.runBare!(task, never)).toBeGreaterThan(0)
    await device.close()
  })

  test('§7 a fill of many units equals the reference: passes are hashed in two launches', async () => {
    const device = await openFake()
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
    const [device] = await openCudaDevices({ ordinals: [0], workerScript, kernelFolder, keepBytes: 64 })
    const chain = { ...task, rounds: 3, m: 128 }
    await device!.runChain(chain, () => {}, never)
    const asked = [2, 0, 2, 1].map((round, tile) => ({ round, tile }))
    expect(toHex(await device!.openChain(asked, never))).toBe(toHex(expectedChain(chain).paths(asked)))
    await device!.close()
  })

  test('a card says how fast host memory reaches it; one that cannot say still works', async () => {
    const able = await openFake()
    expect(able.facts.details).toMatchObject({ hostToCardBytesPerSec: 1000 * 2 ** 20 })
    await able.close()
    troubled({ cuMemcpyAsync: 1 })
    const unable = await openFake()
    expect(unable.facts.details).toMatchObject({ transferRates: 'not measured: GPU_CALL_FAILED' })
    await unable.runChain(task, () => {}, never)
    await unable.close()
  })

  test.each([
    ['cuDevicePrimaryCtxRetain', 46, 'GPU_BUSY'],
    ['cuDevicePrimaryCtxRetain', 803, 'GPU_DRIVER_MISMATCH'],
    ['cuDevicePrimaryCtxRetain', 2, 'OUT_OF_MEMORY'],
  ])('a card whose %s answers %i is not opened: %s', async (call, status, code) => {
    troubled({ [call]: status })
    await expect(openFake()).rejects.toMatchObject({ detail: { code, status } })
  })

  test.each([
    ['cuModuleLoadData', 222, 'GPU_KERNEL_REFUSED'],
    ['cuGraphLaunch', 719, 'GPU_LOST'],
    ['cuStreamSynchronize', 700, 'GPU_LOST'],
    ['cuMemAlloc', 2, 'OUT_OF_MEMORY'],
  ])('a run in which %s answers %i is a fault that names the card: %s', async (call, status, code) => {
    troubled({ [call]: status })
    const device = await openFake()
    const work = device.runChain(task, () => {}, never)
    await expect(work).rejects.toMatchObject({ detail: { code, call }, blame: 'prover' })
    await expect(work).rejects.toThrow(/card 0 \(NVIDIA Fake\)/)
    await device.close()
  })

  test('a card lost in mid-run is told with the driver error NVML heard of it', async () => {
    troubled({ cuGraphLaunch: 719 })
    const nvml = fakeNvml()
    const [device] = await openCudaDevices({ ordinals: [0], workerScript, kernelFolder, nvml })
    expect(device!.facts.details).toMatchObject({ uuid: expect.any(String), pciDeviceId: '0x233510de' })
    nvml.pending.push(79)
    const work = device!.runChain(task, () => {}, never)
    await expect(work).rejects.toMatchObject({ detail: { code: 'GPU_LOST', xid: '79' }, blame: 'prover' })
    await expect(work).rejects.toThrow(/card 0 .*; the driver reported Xid 79 \(the card fell off the bus\)/)
    expect(await device!.telemetry!()).toMatchObject({ xid: '79' })
    await device!.close()
    expect(nvml.sets).toBe(0)
  })

  test('§2 a product that is not exact is a fault of the box, found before the run', async () => {
    setEnvironmentData('fakeTrouble', { inexact: true })
    const device = await openFake()
    const work = device.runChain(task, () => expect.unreachable(), never)
    await expect(work).rejects.toMatchObject({ detail: { code: 'NOT_EXACT', precision: 'int8', k: 64 } })
    await device.close()
  })

  test('a size that does not fit says what was asked and what is free, and leaves the card usable', async () => {
    const device = await openFake()
    const work = device.runChain({ ...task, m: 8192, n: 8192, k: 8192 }, () => {}, never)
    await expect(work).rejects.toMatchObject({ detail: { code: 'OUT_OF_MEMORY', askedBytes: 8192 * 8192 } })
    await device.release()
    const roots: Uint8Array[] = []
    await device.runChain(task, (root) => roots.push(root), never)
    expect(roots).toHaveLength(2)
    await device.close()
    await expect(device.runChain(task, () => {}, never)).rejects.toMatchObject({ detail: { code: 'DEVICE_CLOSED' } })
  })

  test('behavior: a thread that dies is a lost card', async () => {
    const script = new URL(`data:text/javascript,${encodeURIComponent('throw new Error("gone")')}`)
    await expect(openCudaDevices({ ordinals: [0], workerScript: script })).rejects.toMatchObject({
      detail: { code: 'GPU_LOST', card: 0 },
    })
  })
})
