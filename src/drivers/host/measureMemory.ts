import { readFile } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import { bestRate } from './bestRate.ts'

const LARGEST_BLOCK = 128 * 1024 * 1024
const SMALLEST_BLOCK = 4 * 1024 * 1024

/** Memory we may use, and bytes read plus bytes written a second, copying between blocks larger than most caches. */
export async function measureMemory(budgetMs: number, signal: AbortSignal) {
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
