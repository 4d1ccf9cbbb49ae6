import type { Judgement } from '../certificate/judgeRun.ts'
import { gpuTotals } from '../score/gpuTotals.ts'
import { hostClaims } from '../score/hostClaims.ts'
import type { BoxScoreInput } from '../score/scoreBox.ts'
import type { Inventory } from '../wire/inventory.ts'

export interface ScoreSource {
  readonly judgement: Judgement
  readonly registered: boolean
  readonly allocated: boolean
  /** What the box says of itself. */
  readonly host?: Inventory['host']
}

/** What a judged run earns: proven totals over its cards, and what else is known of the box, each with its source. */
export function scoreInput({ judgement, registered, allocated, host = {} }: ScoreSource): BoxScoreInput {
  const outcome = judgement.outcome === 'accepted' ? 'passed' : 'failed'
  const gpu = gpuTotals(judgement.devices, judgement.scaling)
  return { outcome, gpu, host: hostClaims(host), registered, allocated, ageMs: 0 }
}
