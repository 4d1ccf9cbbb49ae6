import type { Judgement } from '../../core/certificate/judgeRun.ts'
import type { BoxFacts } from '../../core/score/checkRequirements.ts'
import { gpuTotals } from '../../core/score/gpuTotals.ts'
import type { Inventory } from '../../core/wire/inventory.ts'

/** What a run on our own box says about what a network may ask for. A rejected run has no cards to show. */
export function boxFacts(judgement: Judgement, { host }: Pick<Inventory, 'host'>): BoxFacts {
  const cards = judgement.outcome === 'accepted' ? gpuTotals(judgement.devices, judgement.scaling)?.value : null
  const number = (name: string): number => (typeof host[name] === 'number' ? host[name] : 0)
  return {
    gpuCount: cards?.count ?? 0,
    gpuMemoryBytes: cards?.memoryBytes ?? 0,
    bf16OpsPerSec: cards?.rates?.bf16 ?? 0,
    cpuWhetstoneMips: number('cpuWhetstoneMips'),
    ramBytes: number('memoryLimitBytes') || number('memoryBytes'),
    diskBytes: number('diskFreeBytes'),
    diskBandwidth: number('diskWriteBytesPerSec'),
    model: cards?.model ?? null,
  }
}
