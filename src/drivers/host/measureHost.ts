import { readFile } from 'node:fs/promises'
import { arch, cpus, freemem, platform, release, totalmem } from 'node:os'
import { setImmediate as breathe } from 'node:timers/promises'
import { printable } from '../../core/bytes/printable.ts'
import { webAssembly } from '../../core/engine/webAssembly.ts'
import { measureDisk } from './measureDisk.ts'
import { FLOP_PER_ROUND, type VectorExports, vectorModule } from './vectorModule.ts'
import { FLOP_PER_LOOP, floatingModules, INSTRUCTIONS_PER_LOOP, whetstoneLoop, whetstoneState } from './whetstone.ts'

export interface HostBudget {
  /** For processor, memory and disk together. */
  readonly budgetMs: number
  readonly diskFolder: string
  readonly diskBytes: number
}

export const HOST_BUDGET = { budgetMs: 3_000, diskBytes: 256 * 1024 * 1024 } as const

/** What the operating system says of the box around the devices, named as in core/inventory/hostFields. */
export const readHost = (): Record<string, string | number> => ({
  platform: platform(),
  release: printable(release(), 100),
  arch: arch(),
  cpu: printable(cpus()[0]?.model ?? 'unknown', 100),
  cores: cpus().length,
  memoryBytes: totalmem(),
})

/** The rest of the box in flat fields, named as in core/inventory/hostFields; one after the other, so that none disturbs another. */
export async function measureHost(budget: HostBudget, signal: AbortSignal): Promise<Record<string, number>> {
  const { budgetMs, diskFolder, diskBytes } = budget
  const cpu = await measureCpu(0.25 * budgetMs, signal)
  const memory = await measureMemory(0.15 * budgetMs, signal)
  const disk = await measureDisk(
    { folder: diskFolder, budgetMs: 0.6 * budgetMs, budgetBytes: diskBytes },
    signal,
  ).catch((error: unknown) => {
    signal.throwIfAborted()
    // A disk that is full or read-only has no rates; the other facts stand.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return {}
  })
  const measured = Object.entries({ ...cpu, ...memory, ...disk })
  return Object.fromEntries(measured.map(([name, value]) => [name, Math.round(value)]))
}

/** How often a second: the best of several slices of about 10 ms each, so that a pause of the machine does not count as its speed. */
async function bestRate(act: (count: number) => void, budgetMs: number, signal: AbortSignal): Promise<number> {
  let [count, best] = [1, 0]
  const end = performance.now() + budgetMs
  while (performance.now() < end || best === 0) {
    signal.throwIfAborted()
    const began = performance.now()
    act(count)
    const tookMs = performance.now() - began
    if (tookMs < 5) count *= 2
    else best = Math.max(best, (1000 * count) / tookMs)
    await breathe()
  }
  return best
}

/** One core, for about `budgetMs`; other programs on the box slow it down, and the result says what was left for us. */
async function measureCpu(budgetMs: number, signal: AbortSignal) {
  const state = whetstoneState()
  const module = await webAssembly.compile(vectorModule())
  const { run } = (await webAssembly.instantiate<VectorExports>(module, {})).exports
  let used = 0
  const rateOf = (act: (count: number) => void) => bestRate(act, budgetMs / 3, signal)
  const loops = await rateOf((count) => whetstoneLoop(state, count))
  const floating = await rateOf((count) => {
    for (let i = 0; i < count; i++) floatingModules(state)
  })
  const rounds = await rateOf((count) => {
    used += run(count)
  })
  // Every result ends up here, so that no compiler may leave the work out.
  if (Number.isNaN(used + state.x)) throw new Error('the processor computes nonsense')
  return {
    cpuWhetstoneMips: (loops * INSTRUCTIONS_PER_LOOP) / 1e6,
    cpuWhetstoneMflops: (floating * FLOP_PER_LOOP) / 1e6,
    /** f32 operations a second in 128-bit vectors. */
    cpuVectorFlops: rounds * FLOP_PER_ROUND,
  }
}

const LARGEST_BLOCK = 128 * 1024 * 1024
const SMALLEST_BLOCK = 4 * 1024 * 1024

/** Memory we may use, and bytes read plus bytes written a second, copying between blocks larger than most caches. */
async function measureMemory(budgetMs: number, signal: AbortSignal) {
  const memoryLimitBytes = await memoryLimit()
  const room = Math.min(freemem(), memoryLimitBytes) / 16
  const size = Math.max(SMALLEST_BLOCK, Math.min(LARGEST_BLOCK, room))
  const [from, to] = [new Uint8Array(size).fill(1), new Uint8Array(size).fill(2)]
  const copyBothWays = (count: number) => {
    for (let i = 0; i < count; i++) {
      to.set(from)
      from.set(to)
    }
  }
  return { memoryLimitBytes, ramBytesPerSec: 4 * size * (await bestRate(copyBothWays, budgetMs, signal)) }
}

/** What a container or slice allows, where it allows less: cgroup version 2, then 1; "max" and numbers beyond the machine mean no limit. */
async function memoryLimit(): Promise<number> {
  const files = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']
  for (const file of files) {
    const limit = Number((await readFile(file, 'utf8').catch(() => '')).trim() || Number.NaN)
    if (Number.isFinite(limit) && limit > 0) return Math.min(limit, totalmem())
  }
  return totalmem()
}
