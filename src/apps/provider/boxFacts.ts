import type { Judgement } from '../../core/certificate/judgeRun.ts'
import { scoreInput } from '../../core/schedule/scoreInput.ts'
import type { BoxFacts } from '../../core/score/checkRequirements.ts'
import type { Inventory } from '../../core/wire/inventory.ts'

/** What a run on our own box says about what a network may ask for. A rejected run has no cards to show. */
export function boxFacts(judgement: Judgement, { devices, host }: Inventory): BoxFacts {
  const deviceClasses = devices.map((device) => device.class)
  const { gpu } = scoreInput({ judgement, deviceClasses, registered: false, allocated: false })
  const cards = judgement.outcome === 'accepted' ? gpu : null
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
