import type { Judgement } from '../../core/certificate/judgeRun.ts'
import { explainReasons } from '../../core/identify/claimReasons.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import { scoreInput } from '../../core/schedule/scoreInput.ts'
import { checkRequirements, type Requirements } from '../../core/score/checkRequirements.ts'

type CheckedBox = { readonly judgement: Judgement; readonly inventory: Inventory }

/** Why a network would not take the box that was checked, in sentences; none where it may join. */
export function whyNotJoin({ judgement, inventory }: CheckedBox, requirements: Requirements): readonly string[] {
  if (judgement.outcome === 'rejected') return [judgement.reason?.code ?? 'rejected']
  const facts = scoreInput({ judgement, registered: false, allocated: false, claims: inventory.host })
  const missing = checkRequirements(facts, requirements).map(({ sentence }) => sentence)
  const { claim } = judgement
  if (claim === null || claim.verdict === 'matches') return missing
  return [...missing, `claim: ${claim.verdict} (${explainReasons(claim.reasons).join('; ')})`]
}
