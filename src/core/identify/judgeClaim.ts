import type { ProtocolVersion } from '../params/constants.ts'
import { proven } from '../params/provenance.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { CLAIM_ANSWERS, type ClaimReason, claimReason } from './claimReasons.ts'
import { deviceReasons } from './deviceReasons.ts'
import { type GpuIdentity, identifyGpu } from './identifyGpu.ts'
import { cleanMeasured, type MeasuredGpu } from './measured.ts'
import type { Claim } from './parseClaim.ts'
import { holdsUnlike, MORE_MEMORY } from './unlike.ts'

export interface ClaimQuestion {
  readonly claim: Claim
  readonly devices: readonly MeasuredGpu[]
  /** Which cards they most likely are, where that is known already. */
  readonly identities?: readonly GpuIdentity[]
  readonly catalogue: Catalogue
  /** 1 for what a certificate of version 1 says, 2 for everything else. */
  readonly rules: ProtocolVersion
}

/** Whether the box is what was sold. Inferred from proven work (§1); the claim itself is never evidence. */
export function judgeClaim({ claim, catalogue, rules, ...given }: ClaimQuestion) {
  const devices = given.devices.map(cleanMeasured)
  const identities = given.identities ?? devices.map((device) => identifyGpu(device, catalogue))
  // What was declined makes a card less likely; it contradicts nothing, so only what was shown may speak against a claim. Nor
  // does the speed of a memory that may have waited for another.
  const shown = devices.map(({ declined: _, ...rest }) => rest)
  const isOne = claim.models.length === 1
  const fair = shown.map((device) => withoutWaiting(device, shown, isOne))
  const seen = fair.map((device, i) =>
    devices[i]!.declined?.length || device !== shown[i] ? identifyGpu(device, catalogue) : identities[i]!,
  )
  const classed = shown.map((measured, i) => ({ measured, model: seen[i]!.model }))
  const reasons = shown.flatMap((measured, device) => {
    const beside = classed.filter((_, i) => i !== device)
    const likely = { identity: seen[device]!, shares: identities[device]!.shares }
    return deviceReasons({
      device,
      measured,
      fair: fair[device]!,
      ...likely,
      claimed: claim.models,
      catalogue,
      beside,
      rules,
    })
  })
  reasons.push(...judgeCount(claim.count, devices.length, claim.models))
  const verdict = CLAIM_ANSWERS.find((grave) => reasons.some((reason) => reason.verdict === grave)) ?? 'different'
  return { verdict, reasons }
}

/**
 * What may speak against a claim: of a memory that waited for others, the speed it would have shown alone. Of one claimed
 * model more memory takes longer to read, and in that proportion (attacks 472, 477); of several an H100 PCIe is waited for
 * by an NVL that holds more, so that nothing is known of the speed (attack 471).
 */
function withoutWaiting(device: MeasuredGpu, all: readonly MeasuredGpu[], isOne: boolean): MeasuredGpu {
  const { bandwidth, ...rest } = device
  if (rest.memoriesRead !== 'together' || bandwidth === undefined) return device
  const own = rest.memoryBytes ?? 0
  const held = all.map(({ memoryBytes }) => memoryBytes ?? 0)
  const most = Math.max(...held)
  if (isOne && own > 0 && most > MORE_MEMORY * own) return { ...device, bandwidth: proven((bandwidth * most) / own) }
  return !isOne && held.some((other) => holdsUnlike(own, other)) ? rest : device
}

function judgeCount(claimed: number, answered: number, models: readonly GpuModel[]): readonly ClaimReason[] {
  if (answered >= claimed) return []
  const facts = { device: null, got: answered, expected: claimed, model: models[0]?.name ?? 'card' }
  return [claimReason('FEWER_DEVICES', facts)]
}
