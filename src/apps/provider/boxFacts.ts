import type { Judgement } from '../../core/certificate/judgeRun.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import type { BoxFacts } from '../../core/score/checkRequirements.ts'
import { gpuTotals } from '../../core/score/gpuTotals.ts'
import { hostClaims } from '../../core/score/hostClaims.ts'

/** What a run on our own box says about what a network may ask for. A rejected run has no cards to show. */
export function boxFacts(judgement: Judgement, { host }: Pick<Inventory, 'host'>): BoxFacts {
  const cards = judgement.outcome === 'accepted' ? gpuTotals(judgement.devices, judgement.scaling)?.value : null
  const claims = hostClaims(host)
  return {
    gpuCount: cards?.count ?? 0,
    gpuMemoryBytes: cards?.memoryBytes ?? 0,
    bf16OpsPerSec: cards?.rates?.bf16 ?? 0,
    cpuWhetstoneMips: claims.cpuWhetstoneMips?.value ?? 0,
    ramBytes: claims.ramBytes?.value ?? 0,
    diskBytes: claims.diskBytes?.value ?? 0,
    diskBandwidth: claims.diskBandwidth?.value ?? 0,
    model: cards?.model ?? null,
  }
}
