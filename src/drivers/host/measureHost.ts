import { arch, cpus, platform, release, totalmem } from 'node:os'
import { printable } from '../../core/bytes/printable.ts'
import { measureCpu } from './measureCpu.ts'
import { measureDisk } from './measureDisk.ts'
import { measureMemory } from './measureMemory.ts'

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
