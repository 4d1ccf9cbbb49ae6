import { cpus, freemem, totalmem } from 'node:os'
import { printable } from '../../../core/bytes/printable.ts'
import { PRECISION_NAMES } from '../../../core/params/precision.ts'
import type { DeviceFacts } from '../../../ports/device.ts'

export function cpuFacts(threads: number, engine: string): DeviceFacts {
  const all = cpus()
  return {
    class: 'cpu',
    backEnd: 'cpu',
    name: printable(all[0]?.model.trim() || `${process.arch} processor`, 80),
    memoryBytes: totalmem(),
    freeBytes: freemem(),
    precisions: PRECISION_NAMES,
    details: { threads, cores: all.length, arch: process.arch, engine },
  }
}
