import { readFile } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import { setImmediate as breathe } from 'node:timers/promises'

export interface MemoryMeasure {
  readonly totalBytes: number
  /** What a container or slice allows, where it allows less. */
  readonly limitBytes: number
  /** Bytes read plus bytes written, copying between blocks larger than most caches. */
  readonly copyBytesPerSec: number
}

const LARGEST_BLOCK = 128 * 1024 * 1024
const SMALLEST_BLOCK = 4 * 1024 * 1024

export async function measureMemory(budgetMs: number, signal: AbortSignal): Promise<MemoryMeasure> {
  const limitBytes = await memoryLimit()
  const room = Math.min(freemem(), limitBytes) / 16
  const size = Math.max(SMALLEST_BLOCK, Math.min(LARGEST_BLOCK, room))
  const [from, to] = [new Uint8Array(size).fill(1), new Uint8Array(size).fill(2)]
  let best = 0
  const end = performance.now() + budgetMs
  while (performance.now() < end || best === 0) {
    signal.throwIfAborted()
    const began = performance.now()
    to.set(from)
    from.set(to)
    const tookMs = performance.now() - began
    best = Math.max(best, (4 * size * 1000) / Math.max(tookMs, 0.001))
    await breathe()
  }
  return { totalBytes: totalmem(), limitBytes, copyBytesPerSec: best }
}

/** cgroup version 2, then 1; "max" and numbers beyond the machine mean no limit. */
async function memoryLimit(): Promise<number> {
  const files = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']
  for (const file of files) {
    const limit = Number((await readFile(file, 'utf8').catch(() => '')).trim() || Number.NaN)
    if (Number.isFinite(limit) && limit > 0) return Math.min(limit, totalmem())
  }
  return totalmem()
}
