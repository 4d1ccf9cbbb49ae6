import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setEnvironmentData } from 'node:worker_threads'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { type CudaDevicesOptions, openCudaDevices } from '../../src/drivers/gpu/cuda/openCudaDevices.ts'
import type { Device } from '../../src/ports/device.ts'
import { type FakeTrouble, openContexts } from './fakeCuda.ts'

export interface FakeCards {
  open(options?: CudaDevicesOptions): Promise<Device[]>
  openOne(options?: CudaDevicesOptions): Promise<Device>
  /** For cards opened from now on, until the test ends. */
  trouble(trouble: FakeTrouble): void
  /** Contexts nobody closed. */
  contexts(): number
}

/** Cards of the fake driver, each on its own thread as real ones are, for the tests of one file. */
export function useFakeCards(): FakeCards {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-fake-card-'))
  const workerScript = pathToFileURL(join(folder, 'fakeCardWorker.js'))
  const kernelFolder = fileURLToPath(new URL('../../kernels/built', import.meta.url))
  const arena = new SharedArrayBuffer(2 ** 30)
  beforeAll(async () => {
    await build({
      entryPoints: [fileURLToPath(new URL('./fakeCardWorker.ts', import.meta.url))],
      outfile: fileURLToPath(workerScript),
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['koffi'],
      logLevel: 'error',
    })
    setEnvironmentData('fakeArena', arena)
  })
  afterEach(() => setEnvironmentData('fakeTrouble', {}))
  afterAll(() => rmSync(folder, { recursive: true }))
  const open = (options: CudaDevicesOptions = {}) =>
    openCudaDevices({ ordinals: [0], workerScript, kernelFolder, nvml: null, ...options })
  return {
    open,
    openOne: async (options) => (await open(options))[0]!,
    trouble: (trouble) => setEnvironmentData('fakeTrouble', trouble as never),
    contexts: () => openContexts(arena),
  }
}
