import type { Catalogue, GpuModel } from './catalogue.ts'
import { type CardCount, countCards } from './countCards.ts'
import { type GpuIdentity, identifyGpu } from './identifyGpu.ts'
import { type ClaimAnswer, type ClaimReason, type ClaimVerdict, judgeDevice } from './judgeDevice.ts'
import { cleanMeasured, type MeasuredGpu } from './measured.ts'
import type { Claim } from './parseClaim.ts'

export interface ClaimJudgement {
  readonly verdict: ClaimVerdict
  readonly reasons: readonly ClaimReason[]
  readonly identities: readonly GpuIdentity[]
  readonly count: CardCount
}

export interface ClaimQuestion {
  readonly claim: Claim
  readonly devices: readonly MeasuredGpu[]
  readonly catalogue: Catalogue
}

/** The gravest finding names the verdict; the reasons keep all of them. */
const GRAVITY: readonly ClaimVerdict[] = [
  'undersized run',
  'different',
  'weaker',
  'shared',
  'throttled',
  'power-capped',
  'matches',
]

export const CLAIM_ANSWERS: readonly ClaimAnswer[] = [...GRAVITY, 'unproven', 'unreadable']

/** Whether the box is what was sold. Inferred from proven work (§1); the claim itself is never evidence. */
export function judgeClaim({ claim, catalogue, ...given }: ClaimQuestion): ClaimJudgement {
  const devices = given.devices.map(cleanMeasured)
  const identities = devices.map((device) => identifyGpu(device, catalogue))
  const classed = devices.map((measured, i) => ({ measured, model: identities[i]!.model }))
  const reasons = devices.flatMap((measured, device) => {
    const beside = classed.filter((_, i) => i !== device)
    return judgeDevice({ device, measured, identity: identities[device]!, claimed: claim.models, catalogue, beside })
  })
  reasons.push(...judgeCount(claim.count, devices.length, claim.models))
  const verdict = GRAVITY.find((grave) => reasons.some((reason) => reason.verdict === grave)) ?? 'different'
  return { verdict, reasons, identities, count: countCards(devices, catalogue) }
}

function judgeCount(claimed: number, answered: number, models: readonly GpuModel[]): readonly ClaimReason[] {
  if (answered >= claimed) return []
  const name = models[0]?.name ?? 'card'
  return [
    {
      code: 'FEWER_DEVICES',
      verdict: 'weaker',
      device: null,
      sentence: `${claimed} devices were claimed (${name}), ${answered} answered`,
      got: answered,
      expected: claimed,
    },
  ]
}
