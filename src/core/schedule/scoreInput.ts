import type { Tier } from '../attest/checkBundle.ts'
import type { Judgement } from '../certificate/judgeRun.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import { parseClaim } from '../identify/parseClaim.ts'
import { isUnlike } from '../identify/unlike.ts'
import type { HostPart } from '../inventory/hostReport.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { gpuTotals } from '../score/gpuTotals.ts'
import { hostClaims, hostShown } from '../score/hostFacts.ts'
import type { BoxScoreInput, GpuScoreInput } from '../score/scoreBox.ts'

export interface ScoreSource {
  readonly judgement: Judgement
  readonly registered: boolean
  readonly allocated: boolean
  /** What the box says of itself. */
  readonly claims?: Inventory['host']
  /** What its host parts showed. */
  readonly host?: readonly HostPart[]
  /** By which the models of a claim are read. */
  readonly catalogue?: Catalogue
  /** What the vendors of its hardware vouch for; C where left out. */
  readonly tier?: Tier
}

/** What a judged run earns: proven totals over its cards, and what else is known of the box, each with its source. */
export function scoreInput(source: ScoreSource): BoxScoreInput {
  const { judgement, registered, allocated, claims = {}, host = [], tier = 'C', catalogue } = source
  const outcome = judgement.outcome === 'accepted' ? 'passed' : 'failed'
  const totals = outcome === 'passed' ? gpuTotals(judgement.devices, judgement.scaling) : null
  const gpu = totals && { ...totals, ...modelOf(judgement), ...(catalogue && soldAs(judgement, catalogue)) }
  return { outcome, gpu, host: { ...hostClaims(claims), ...hostShown(host) }, registered, allocated, tier, ageMs: 0 }
}

/** The card that was identified is the one that was sold: a twin, or a neighbour as likely, may be worth more (attack 113). */
const isAsSold = ({ claim }: Judgement): boolean =>
  claim?.verdict === 'matches' &&
  claim.reasons.every((reason) => typeof reason !== 'string' && reason.got === reason.expected)

function soldAs({ claim }: Judgement, catalogue: Catalogue): Pick<GpuScoreInput, 'soldAs'> {
  const sold = claim?.verdict === 'matches' ? parseClaim(claim.text, catalogue) : null
  return sold?.ok ? { soldAs: sold.claim.models.map(({ id }) => id) } : {}
}

/** Unlike devices are named by less than a claim is judged by (attack 517). */
const areAlike = ({ devices }: Judgement): boolean => {
  const shown = devices.map(({ rates, memory }) => ({ rates, ...(memory && { memoryBytes: memory.heldBytes }) }))
  return !shown.some((one) => shown.some((other) => isUnlike(one, other)))
}

/** A model is inferred, and likelier for what is kept back; its base score is for who has shown all of it (attack 99). */
function modelOf(judgement: Judgement): Pick<GpuScoreInput, 'model'> {
  const models = new Set(judgement.devices.map(({ identity }) => identity.cards?.[0]))
  const [model] = models
  return models.size === 1 && model && isAsSold(judgement) && areAlike(judgement) ? { model } : {}
}
