import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { deviceSuite } from '../../../../test/suites/deviceSuite.ts'
import { runNode } from '../../../../test/support/processes.ts'
import { expectedFill, expectedPasses, expectedSeries } from '../../../../test/support/referenceDevice.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import { createEngine } from '../../../core/engine/createEngine.ts'
import type { Device, SeriesTask } from '../../../ports/device.ts'
import { kernelPath } from '../../system/kernelFiles.ts'
import { type CpuDeviceOptions, openCpuDevice } from './openCpuDevice.ts'

for (const engine of ['wasm', undefined])
  deviceSuite(`cpu with ${engine ?? 'the best'} kernels`, {
    open: () => openCpuDevice({ threads: 2, environment: { TOUCHSTONE_ENGINE: engine } }),
    // 2 * 32768 * 32768 entries of two bytes are all that WebAssembly can address.
    refused: [{ m: 32768, n: 32768, k: 32768 }],
  })

const never = new AbortController().signal
const seed = new Uint8Array(32).fill(5)
const task: SeriesTask = { kind: 'rounds', precision: 'int8', m: 256, n: 512, k: 64, rounds: 3, seed }
const hexes = (roots: readonly Uint8Array[]) => roots.map(toHex)

describe('openCpuDevice', () => {
  let device: Device | null = null
  const open = async (options: CpuDeviceOptions) => {
    device = await openCpuDevice(options)
    return device
  }
  afterEach(() => device?.close())

  test.each([1, 3])('behavior: %i threads make the same roots', async (threads) => {
    const engine = await createEngine(new Uint8Array(readFileSync(kernelPath('engine.wasm'))))
    const cpu = await open({ threads })
    for (const kind of ['rounds', 'bind'] as const) {
      const roots: Uint8Array[] = []
      await cpu.runSeries({ ...task, kind }, (root) => roots.push(root), never)
      expect(hexes(roots)).toEqual(hexes(expectedSeries({ ...task, kind }, engine).roots))
    }
  })

  test('behavior: rounds and passes not kept are computed again when asked', async () => {
    // Room for the fingerprints of one round of eight tiles, and of no pass over two of them.
    const cpu = await open({ threads: 2, keepBytes: 8 * 16 })
    const small: SeriesTask = { ...task, m: 64, n: 128 }
    await cpu.runSeries(small, () => {}, never)
    const asked = [2, 0, 1, 2].map((round, tile) => ({ round, tile }))
    expect(toHex(await cpu.openSeries(asked, never))).toBe(toHex(expectedSeries(small).paths(asked)))
    const fill = { m: 64, n: 128, k: 64, kept: 2, seed }
    await cpu.fill(fill, () => {}, never)
    await cpu.runPasses({ passes: 3, start: seed }, () => {}, never)
    const expected = expectedPasses(fill, expectedFill(fill), { passes: 3, start: seed })
    expect(toHex(await cpu.openPasses(asked, never))).toBe(toHex(expected.paths(asked)))
  })

  test('behavior: closing ends a running series and every later call', async () => {
    const cpu = await open({ threads: 2 })
    const work = cpu.runSeries({ ...task, rounds: 1_000_000 }, () => {}, never)
    await Promise.all([expect(work).rejects.toMatchObject({ detail: { code: 'CPU_THREAD_FAILED' } }), cpu.close()])
    await expect(cpu.runSeries(task, () => {}, never)).rejects.toMatchObject({ detail: { code: 'DEVICE_CLOSED' } })
  })

  test('behavior: a missing worker script is a fault with a cause, not a hang', async () => {
    const workerScript = new URL('file:///nowhere/cpuWorker.js')
    await expect(openCpuDevice({ threads: 2, workerScript })).rejects.toMatchObject({
      detail: { code: 'CPU_THREAD_FAILED' },
    })
  })

  test('behavior: a thread that fails while the others wait for it ends the run and all threads', async () => {
    const script = `
      import { parentPort, workerData } from 'node:worker_threads'
      parentPort.on('message', () => {
        if (workerData.index === 1) throw new Error('lost')
        Atomics.wait(new Int32Array(workerData.control), 0, 0)
      })
      parentPort.postMessage({ kind: 'done' })`
    const workerScript = new URL(`data:text/javascript,${encodeURIComponent(script)}`)
    const cpu = await open({ threads: 3, workerScript })
    const failed = { detail: { code: 'CPU_THREAD_FAILED' } }
    await expect(cpu.runSeries(task, () => {}, never)).rejects.toMatchObject(failed)
    await expect(cpu.runSeries(task, () => {}, never)).rejects.toMatchObject(failed)
    await cpu.close()
  })

  test('behavior: a thread that loads while another fails is not ended before it has loaded', async () => {
    const loaded = join(mkdtempSync(join(tmpdir(), 'touchstone-loading-')), 'loaded')
    const script = `
      import { writeFileSync } from 'node:fs'
      import { parentPort, workerData } from 'node:worker_threads'
      if (workerData.index === 1) throw new Error('lost')
      await new Promise((resolve) => setTimeout(resolve, 300))
      writeFileSync(${JSON.stringify(loaded)}, '')
      parentPort.postMessage({ kind: 'done' })`
    const workerScript = new URL(`data:text/javascript,${encodeURIComponent(script)}`)
    await expect(openCpuDevice({ threads: 2, workerScript })).rejects.toMatchObject({
      detail: { code: 'CPU_THREAD_FAILED' },
    })
    await expect.poll(() => existsSync(loaded), { timeout: 30_000 }).toBe(true)
    rmSync(dirname(loaded), { recursive: true })
  })

  test('behavior: a missing kernel file says which', async () => {
    await expect(openCpuDevice({ kernelFolder: '/nowhere' })).rejects.toMatchObject({
      detail: { code: 'KERNEL_FILE_MISSING', name: 'device.wasm' },
    })
  })
})

test('a program that closes its device in the middle of a run goes on to its answer', async () => {
  const script = `
    const { openCpuDevice } = await import(${JSON.stringify(new URL('../../../../dist/drivers/gpu/cpu/openCpuDevice.js', import.meta.url).href)})
    const device = await openCpuDevice({ threads: 2 })
    const task = { kind: 'rounds', precision: 'int8', m: 512, n: 512, k: 2048, rounds: 1000, seed: new Uint8Array(32) }
    const begun = new Promise((resolve) => {
      device.runSeries(task, resolve, new AbortController().signal).catch(() => {})
    })
    await begun
    await device.close()
    console.log('closed')`
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-close-'))
  const file = join(folder, 'close.mjs')
  writeFileSync(file, script)
  const ended = await runNode([file], process.env).finally(() => rmSync(folder, { recursive: true }))
  expect(ended).toMatchObject({ code: 0, out: 'closed\n' })
})
