import { webAssembly } from '../../../core/engine/webAssembly.ts'
import type { Device } from '../../../ports/device.ts'
import { portFault } from '../../../ports/faults.ts'
import { chooseKernels } from '../../system/chooseKernels.ts'
import { readKernel } from '../../system/kernelFiles.ts'
import { scriptUrl } from '../../system/scriptUrl.ts'
import { usableCores } from '../../system/usableCores.ts'
import { lentFills } from '../lentFills.ts'
import { cpuFacts } from './cpuFacts.ts'
import { type FillRun, openPasses, type PassRun, runFill, runPasses } from './fillRun.ts'
import { Pool } from './pool.ts'
import { openSeries, runSeries, type SeriesRun } from './seriesRun.ts'

export interface CpuDeviceOptions {
  /** All cores unless said otherwise. */
  readonly threads?: number
  /** Bytes of fingerprints kept for the openings; rounds beyond it are computed again when asked. */
  readonly keepBytes?: number
  /** A bundled release knows better where its files lie. */
  readonly kernelFolder?: string
  /** The process's own unless said otherwise; see chooseKernels. */
  readonly environment?: NodeJS.ProcessEnv
  readonly workerScript?: URL
}

/** Enough for 4000 rounds of the largest CPU class. */
const KEEP_BYTES = 256 * 2 ** 20

const fills = lentFills<FillRun>()

/** The CPU as a device: every thread runs the kernels, native or WebAssembly, on one shared memory. */
export async function openCpuDevice(options: CpuDeviceOptions = {}): Promise<Device> {
  const threads = options.threads ?? usableCores()
  const keepBytes = options.keepBytes ?? KEEP_BYTES
  const files = options.kernelFolder ? { folder: options.kernelFolder } : {}
  const native = await chooseKernels({ ...files, environment: options.environment ?? process.env })
  const kernels = native ? { native } : { module: await webAssembly.compile(await readKernel('device.wasm', files)) }
  const script = options.workerScript ?? scriptUrl('./cpuWorker.ts', import.meta.url)
  const pool = new Pool({ kernels, threads, script })
  await pool.online()
  const host = { pool, keepBytes }
  let series: SeriesRun | null = null
  let fill: FillRun | null = null
  let passes: PassRun | null = null
  const forget = () => {
    series = null
    fill = null
    passes = null
  }

  const device: Device = {
    facts: cpuFacts(threads, native?.name ?? 'WebAssembly SIMD'),
    runSeries: async (task, onRoot, signal) => {
      pool.requireIdle()
      series = null
      series = await runSeries(host, task, onRoot, signal)
    },
    openSeries: async (asked, signal) => {
      if (!series) throw portFault('NOTHING_TO_OPEN', { run: 'series is' })
      return openSeries(host, series, asked, signal)
    },
    fill: async (task, onRoot, signal) => {
      pool.requireIdle()
      fill = null
      passes = null
      fill = await runFill(host, task, onRoot, signal)
    },
    runPasses: async (task, onRoot, signal) => {
      pool.requireIdle()
      passes = null
      if (!fill) throw portFault('NO_FILL')
      passes = await runPasses(host, { ...task, fill, peer: task.peer ? fills.of(task.peer) : fill }, onRoot, signal)
    },
    openPasses: async (asked, signal) => {
      if (!passes) throw portFault('NOTHING_TO_OPEN', { run: 'passes are' })
      return openPasses(host, passes, asked, signal)
    },
    release: async () => {
      forget()
      pool.shrink()
    },
    close: async () => {
      forget()
      await pool.close()
    },
  }
  return fills.lend(device, () => fill)
}
