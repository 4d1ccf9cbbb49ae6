import type { Catalogue, GpuModel } from '../identify/catalogue.ts'
import { catalogueHash } from '../identify/catalogueHash.ts'
import { type ClaimAnswer, type ClaimReason, claimReason, explainClaim } from '../identify/claimReasons.ts'
import { type CardCount, countCards } from '../identify/countCards.ts'
import { identifyByRates, isOwnMemory } from '../identify/identifyByRates.ts'
import { type GpuIdentity, identifyGpu } from '../identify/identifyGpu.ts'
import { judgeClaim } from '../identify/judgeClaim.ts'
import { parseClaim } from '../identify/parseClaim.ts'
import { undersizedParts } from '../identify/sizeClass.ts'
import { suppliedPerSecond, suppliers } from '../identify/supplied.ts'
import type { ProtocolVersion } from '../params/constants.ts'
import type { Precision } from '../params/precision.ts'
import type { Preset } from '../params/presets.ts'
import type { RejectReason } from '../proof/reasons.ts'
import type { DeviceClass } from '../proof/sizeClass.ts'
import type { Run } from '../proof/verifyPart.ts'
import { measuredOf, type ProvenDevice, provenDevices, scalingOf } from './measuredDevices.ts'
import { fewRounds, shortParts, type Timed } from './shortParts.ts'

/** §7: capacity counts as the card's own only when it is read nearly as fast as the card copies. */
export interface MemoryJudgement {
  readonly heldBytes: number
  readonly perSecond: number
  /** What neither host memory nor recomputation could have supplied; null where no int8 rate was proven. */
  readonly floorBytes: number | null
  readonly status: 'proven' | 'held'
}

/** Inferred: which card, in whole per cent of confidence. */
export interface IdentityJudgement {
  readonly status: GpuIdentity['status'] | 'insecure'
  readonly model: string | null
  readonly confidencePercent: number
  readonly twins: readonly string[]
  readonly closest: readonly { readonly model: string; readonly confidencePercent: number }[]
}

export interface DeviceJudgement extends Omit<ProvenDevice, 'memory'> {
  readonly memory: MemoryJudgement | null
  /** Bind rate over int8 rate of the same device, in thousandths (§8). */
  readonly bindShare: number | null
  readonly identity: IdentityJudgement
}

export interface ClaimOutcome {
  readonly text: string
  readonly verdict: ClaimAnswer
  /** Data; in version 1 the sentences they are told in. */
  readonly reasons: readonly (ClaimReason | string)[]
}

/** Everything that follows from the evidence. Anyone recomputes it; what is inferred says so. */
export interface Judgement {
  readonly outcome: 'accepted' | 'rejected'
  readonly reason: RejectReason | null
  readonly catalogue: string
  readonly devices: readonly DeviceJudgement[]
  readonly count: Pick<CardCount, 'claimed' | 'least' | 'established' | 'sentence'>
  /** Rates together over rates alone, in thousandths (§8). */
  readonly scaling: number | null
  readonly claim: ClaimOutcome | null
}

export interface JudgeInputs {
  readonly run: Run
  readonly preset: Preset
  readonly deviceClasses: readonly DeviceClass[]
  /** The precisions each device offered; from version 2 on any other counts as declined. */
  readonly offered?: readonly (readonly Precision[])[]
  readonly catalogue: Catalogue
  readonly claim: string | null
  /** The rules to judge by; those the run was conducted under where left out. */
  readonly rules?: ProtocolVersion
  /** The shortest round trip the validator measured, by which passes must be long enough (§7). */
  readonly roundTripUs: number
  /** What the conduct of the run or its openings already rejected. */
  readonly rejected: RejectReason | null
}

export function judgeRun({ run, preset, catalogue, claim, rejected, ...inputs }: JudgeInputs): Judgement {
  const deviceClasses = inputs.deviceClasses.slice(0, run.challenge.deviceCount)
  const complete = run.parts.length === run.challenge.parts.length
  const rules = inputs.rules ?? run.challenge.version
  const proven = complete ? provenDevices(run, rules) : []
  const offered = rules === 1 ? undefined : inputs.offered
  const scaling = scalingOf(proven)
  const sold = claim === null ? null : parseClaim(claim, catalogue)
  const models = sold?.ok ? sold.claim.models : []
  const devices = inOneWindow(
    proven.map((device) =>
      judgeDevice(device, {
        run,
        preset,
        deviceClass: deviceClasses[device.device] ?? 'gpu',
        offered: offered?.[device.device],
        catalogue,
        scaling,
        claimed: models,
        rules,
      }),
    ),
  )
  const reason =
    rejected ??
    (complete
      ? (tooShort({ run, preset, rules, roundTripUs: inputs.roundTripUs }) ?? undersized(devices, preset, catalogue))
      : null)
  const isGpu = preset.secure && deviceClasses.every((deviceClass) => deviceClass === 'gpu')
  const counted = isGpu ? countCards(proven.map(totalsOf), catalogue) : claimedOnly(run.challenge.deviceCount)
  const { claimed, least, established, sentence } = counted
  return {
    outcome: reason ? 'rejected' : 'accepted',
    reason,
    catalogue: catalogueHash(catalogue),
    devices,
    count: { claimed, least, established, sentence },
    scaling,
    claim:
      claim === null || !complete
        ? null
        : judgeClaimText(claim, proven, { preset, deviceClasses, offered, scaling, catalogue, rules }),
  }
}

/** §7, attack 36: capacity is proven of all devices together or of none. */
function inOneWindow(devices: readonly DeviceJudgement[]): DeviceJudgement[] {
  const proven = devices.every(({ memory }) => memory?.status === 'proven')
  return devices.map((device) =>
    device.memory && !proven ? { ...device, memory: { ...device.memory, status: 'held' } } : device,
  )
}

interface DeviceContext {
  readonly run: Run
  readonly preset: Preset
  readonly deviceClass: DeviceClass
  readonly catalogue: Catalogue
  readonly scaling: number | null
  readonly offered: readonly Precision[] | undefined
  readonly claimed: readonly GpuModel[]
  readonly rules: ProtocolVersion
}

function judgeDevice(device: ProvenDevice, context: DeviceContext): DeviceJudgement {
  const { memory, ...rest } = device
  const int8 = device.rates.int8
  return {
    ...rest,
    memory: memory ? judgeMemory(device, memory, context) : null,
    bindShare: device.bindPerSecond !== null && int8 ? Math.floor((1000 * device.bindPerSecond) / int8) : null,
    identity: judgeIdentity(device, context),
  }
}

/** Presets below mainnet identify nothing; a CPU is never identified as a GPU (§4.0). */
function judgeIdentity(
  device: ProvenDevice,
  { preset, deviceClass, offered, catalogue, scaling }: DeviceContext,
): IdentityJudgement {
  const none = { model: null, confidencePercent: 0, twins: [], closest: [] }
  if (deviceClass === 'cpu') return { status: 'cpu', ...none }
  if (!preset.secure) return { status: 'insecure', ...none }
  if (!isMeasured(device)) return { status: 'unknown', ...none }
  const identity = identifyGpu(measuredOf(device, { deviceClass, scaling, offered }), catalogue)
  return {
    status: identity.status,
    model: identity.model?.id ?? null,
    confidencePercent: Math.round(100 * identity.groupConfidence),
    twins: identity.twins,
    closest: identity.closest.map(({ id, confidence }) => ({
      model: id,
      confidencePercent: Math.round(100 * confidence),
    })),
  }
}

/** A run may hold nothing that identity could rest on: a bind part alone, or memory parts of single devices. */
const isMeasured = ({ rates, memory }: ProvenDevice): boolean => Object.keys(rates).length > 0 || memory !== null

function judgeMemory(
  device: ProvenDevice,
  memory: NonNullable<ProvenDevice['memory']>,
  context: DeviceContext,
): MemoryJudgement {
  const { run, preset, deviceClass, catalogue, rules } = context
  // An H100 and an H200 compute alike: the claim may say by which of the fitting cards the memory is judged.
  const claimed = context.claimed.filter(({ memoryBytes }) => memoryBytes >= memory.heldBytes).map(({ id }) => id)
  const question = {
    rates: device.rates,
    kind: deviceClass,
    catalogue,
    claimed,
    ...(rules === 1 ? {} : { heldBytes: memory.heldBytes }),
  }
  const byRates = identifyByRates(question)
  const part = run.challenge.parts[memory.part]!
  const secondsPerPass = memory.elapsedUs / 1e6 / part.rounds
  const cards = suppliers({ rates: device.rates, heldBytes: memory.heldBytes, byRates, catalogue, rules })
  const int8 = memory.int8PerSecond
  const supplied = int8 === null ? null : suppliedPerSecond(cards, part.k, catalogue.rules, int8) * secondsPerPass
  return {
    heldBytes: memory.heldBytes,
    perSecond: memory.perSecond,
    floorBytes: supplied === null ? null : Math.max(0, Math.floor(memory.heldBytes - supplied)),
    status: preset.secure && isOwnMemory(memory, byRates, catalogue.rules, rules) ? 'proven' : 'held',
  }
}

/** §4.0, attack 27: a card the rates point to must have run the class of that card. */
function undersized(devices: readonly DeviceJudgement[], preset: Preset, catalogue: Catalogue): RejectReason | null {
  if (!preset.secure) return null
  const classed = devices.map(({ identity, classes, rates, memory }) => ({
    model: catalogue.models.find(({ id }) => id === identity.model) ?? null,
    measured: { classes, rates, ...(memory ? { memoryBytes: memory.heldBytes } : {}) },
  }))
  for (const [i, { device }] of devices.entries()) {
    const beside = classed.filter((_, other) => other !== i)
    const found = undersizedParts(classed[i]!, beside, catalogue.rules)[0]
    if (found)
      return {
        code: 'UNDERSIZED_RUN',
        device,
        expected: `${found.precision} m = n = ${found.required}`,
        got: found.ran,
      }
  }
  return null
}

function tooShort(given: Timed & { readonly rules: ProtocolVersion }): RejectReason | null {
  const few = given.rules === 1 ? undefined : fewRounds(given.preset, given.run)[0]
  if (few) return { code: 'TOO_SHORT', ...few }
  const [short] = shortParts(given)
  if (!short) return null
  const { part, device, leastUs, elapsedUs } = short
  return { code: 'TOO_SHORT', part, device, expected: `${leastUs} us`, got: `${elapsedUs} us` }
}

const totalsOf = ({ rates, memory }: ProvenDevice) => ({ rates, ...(memory ? { memoryBytes: memory.heldBytes } : {}) })

const claimedOnly = (claimed: number): Judgement['count'] => ({
  claimed,
  least: 1,
  established: false,
  sentence: claimed === 1 ? 'one device' : `count claimed: ${claimed} devices answered in one window`,
})

type ClaimContext = Pick<JudgeInputs, 'preset' | 'deviceClasses' | 'catalogue'> & {
  readonly offered: JudgeInputs['offered'] | undefined
  readonly scaling: number | null
  readonly rules: ProtocolVersion
}

function judgeClaimText(text: string, proven: readonly ProvenDevice[], context: ClaimContext): ClaimOutcome {
  const { preset, deviceClasses, offered, scaling, catalogue, rules } = context
  const parsed = parseClaim(text, catalogue)
  const of = (verdict: ClaimAnswer, reasons: readonly ClaimReason[]): ClaimOutcome => ({
    text,
    verdict,
    reasons: rules === 1 ? reasons.map(explainClaim) : reasons,
  })
  const alone = (...given: Parameters<typeof claimReason>) => of(claimReason(...given).verdict, [claimReason(...given)])
  const box = { device: null }
  if (!parsed.ok) return alone('UNREADABLE_CLAIM', { ...box, got: parsed.code, expected: 'READABLE' })
  const isGpu = deviceClasses.every((deviceClass) => deviceClass === 'gpu')
  if (rules > 1 && isGpu && !preset.secure)
    return alone('INSECURE_PRESET', { ...box, got: preset.name, expected: 'mainnet' })
  if (!proven.every(isMeasured)) return alone('NOTHING_MEASURED', { ...box, got: 0, expected: 1 })
  const devices = proven.map((device) => {
    const deviceClass = deviceClasses[device.device] ?? 'gpu'
    return measuredOf(device, { deviceClass, scaling, offered: offered?.[device.device] })
  })
  const { verdict, reasons } = judgeClaim({ claim: parsed.claim, devices, catalogue, rules })
  return of(verdict, reasons)
}
