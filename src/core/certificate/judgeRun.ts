import { buyerName } from '../identify/buyerName.ts'
import { type Catalogue, catalogueHash } from '../identify/catalogue.ts'
import { type ClaimAnswer, type ClaimReason, claimReason, explainToVersion1 } from '../identify/claimReasons.ts'
import { type CardCount, countCards } from '../identify/countCards.ts'
import { identifyByRates, isOwnMemory } from '../identify/identifyByRates.ts'
import { type GpuIdentity, identifyGpu } from '../identify/identifyGpu.ts'
import { judgeClaim } from '../identify/judgeClaim.ts'
import type { MeasuredGpu } from '../identify/measured.ts'
import { type ParsedClaim, parseClaim } from '../identify/parseClaim.ts'
import { suppliedByFewer, suppliedPerSecond, suppliers } from '../identify/supplied.ts'
import { undersizedParts } from '../identify/undersizedParts.ts'
import { isUnlike } from '../identify/unlike.ts'
import type { ProtocolVersion } from '../params/constants.ts'
import type { Precision } from '../params/precision.ts'
import type { Preset } from '../params/presets.ts'
import { claimed, type Inferred, inferred, type Proven, proven } from '../params/provenance.ts'
import { isReadTogether } from '../proof/partKinds.ts'
import type { RejectReason } from '../proof/reasons.ts'
import type { DeviceClass } from '../proof/sizeClass.ts'
import type { Run } from '../proof/verifyPart.ts'
import type { StatedJudgement } from './judgementSchema.ts'
import { measuredOf, type ProvenDevice, provenDevices, scalingOf } from './measuredDevices.ts'
import { fewRounds, shortParts, type Timed } from './shortParts.ts'

type StatedDevice = StatedJudgement['devices'][number]
type StatedMemory = NonNullable<StatedDevice['memory']>

/** §7: capacity counts as the card's own only when it is read nearly as fast as the card copies. */
type MemoryJudgement = Proven<Omit<StatedMemory, 'floorBytes'>> & Inferred<Pick<StatedMemory, 'floorBytes'>>

export type DeviceJudgement = Proven<Omit<StatedDevice, 'memory' | 'identity'>> & {
  readonly memory: MemoryJudgement | null
  readonly identity: Inferred<StatedDevice['identity']>
}

/** Everything that follows from the evidence. Anyone recomputes it; what is inferred says so. */
export type Judgement = Omit<StatedJudgement, 'devices' | 'count' | 'scaling'> & {
  readonly devices: readonly DeviceJudgement[]
  readonly count: CardCount
  /** Rates together over rates alone, in thousandths (§8). */
  readonly scaling: Proven | null
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
  /** As it was judged before this attack, and before those after it. */
  readonly asBefore?: 465 | 506 | undefined
  /** What the conduct of the run or its openings already rejected. */
  readonly rejected: RejectReason | null
}

export function judgeRun({ run, preset, catalogue, claim, rejected, ...inputs }: JudgeInputs): Judgement {
  const deviceClasses = inputs.deviceClasses.slice(0, run.challenge.deviceCount)
  const complete = run.parts.length === run.challenge.parts.length
  const rules = inputs.rules ?? run.challenge.version
  const { asBefore } = inputs
  const shown = complete ? provenDevices(run, rules, asBefore === 465) : []
  const scaling = scalingOf(shown)
  const seen = shown.map((device): SeenDevice => {
    const deviceClass = deviceClasses[device.device] ?? 'gpu'
    const offered = rules === 1 ? undefined : inputs.offered?.[device.device]
    const measured = measuredOf(device, { deviceClass, scaling, offered })
    return { device, deviceClass, measured, identity: identifyGpu(measured, catalogue) }
  })
  const isAsBefore = rules === 1 || asBefore !== undefined
  const sold = claim === null ? null : parseClaim(claim, catalogue)
  const joint = run.challenge.parts.find(isReadTogether)
  const held = shown.flatMap(({ memory }) => memory?.heldBytes ?? [])
  const byFewer = joint ? suppliedByFewer(held, joint.k, catalogue) : 0
  const context = { run, preset, catalogue, sold, rules, byFewer, seen, isAsBefore }
  const judgedClaim = claim === null || sold === null || !complete ? null : judgeSold(claim, sold, seen, context)
  const names = judgedClaim?.verdict === 'matches' && sold?.ok ? sold.claim.models.map(({ id }) => id) : []
  const devices = inOneWindow(seen.map((device) => judgeDevice(device, names, context)))
  const reason =
    rejected ??
    (complete ? (tooShort({ run, preset, rules, roundTripUs: inputs.roundTripUs }) ?? undersized(seen, context)) : null)
  const isGpu = preset.secure && deviceClasses.every((deviceClass) => deviceClass === 'gpu')
  const totals = devices.map(({ rates, memory }) => ({ rates, ...(memory && { memoryBytes: memory.heldBytes }) }))
  const count = isGpu ? countCards(totals, catalogue, rules) : claimedOnly(run.challenge.deviceCount)
  return {
    outcome: reason ? 'rejected' : 'accepted',
    reason,
    catalogue: catalogueHash(catalogue),
    devices,
    count,
    scaling,
    claim: judgedClaim,
  }
}

/** What a device proved, and the card that it is most likely: worked out once, for all that is judged by it. */
interface SeenDevice {
  readonly device: ProvenDevice
  readonly deviceClass: DeviceClass
  readonly measured: MeasuredGpu
  readonly identity: GpuIdentity
}

/**
 * Whose memory was read together with that of an unlike card has waited for it, or made it wait: nothing is known of its
 * speed, and it is named by the rest (attack 508).
 */
function withoutWaiting(one: SeenDevice, { seen, isAsBefore, catalogue }: Context): SeenDevice {
  const { bandwidth: _, ...rest } = one.measured
  const waits = rest.memoriesRead === 'together' && seen.some(({ measured }) => isUnlike(rest, measured))
  return waits && !isAsBefore ? { ...one, identity: identifyGpu(rest, catalogue) } : one
}

/** §7, attack 36: capacity is proven of all devices together or of none. */
function inOneWindow(devices: readonly DeviceJudgement[]): DeviceJudgement[] {
  const proven = devices.every(({ memory }) => memory?.status === 'proven')
  return devices.map((device) =>
    device.memory && !proven ? { ...device, memory: { ...device.memory, status: 'held' } } : device,
  )
}

interface Context {
  readonly run: Run
  readonly preset: Preset
  readonly catalogue: Catalogue
  readonly sold: ParsedClaim | null
  readonly rules: ProtocolVersion
  /** What a device may have had of a card that served several, bytes a second. */
  readonly byFewer: number
  readonly seen: readonly SeenDevice[]
  /** A claim, even one that does not match, said by which of the fitting cards a memory is judged (attack 506). */
  readonly isAsBefore: boolean
}

function judgeDevice(seen: SeenDevice, sold: readonly string[], context: Context): DeviceJudgement {
  const { memory, ...rest } = seen.device
  const { bindPerSecond, rates } = rest
  return {
    ...rest,
    memory: memory ? judgeMemory(seen, memory, context) : null,
    bindShare: bindPerSecond !== null && rates.int8 ? proven(Math.floor((1000 * bindPerSecond) / rates.int8)) : null,
    identity: inferred(judgeIdentity(withoutWaiting(seen, context), sold, context)),
  }
}

/** Presets below mainnet identify nothing; a CPU is never identified as a GPU (§4.0). */
function judgeIdentity(
  { device, deviceClass, identity }: SeenDevice,
  sold: readonly string[],
  { preset, catalogue, rules }: Context,
): StatedDevice['identity'] {
  const none = { model: null, confidencePercent: 0, ...(rules === 1 ? { twins: [] } : { cards: [] }), closest: [] }
  if (deviceClass === 'cpu') return { status: 'cpu', ...none }
  if (!preset.secure) return { status: 'insecure', ...none }
  if (!isMeasured(device) || (rules > 1 && !isInTime(device))) return { status: 'unknown', ...none }
  const id = identity.model?.id ?? null
  const cards = cardsOf(identity)
  return {
    status: identity.status,
    ...(rules === 1 ? { model: id, twins: identity.twins } : { model: buyerName(cards, catalogue, sold), cards }),
    confidencePercent: Math.round(100 * identity.groupConfidence),
    closest: identity.closest.map(({ id, confidence }) => ({
      model: id,
      confidencePercent: Math.round(100 * confidence),
    })),
  }
}

const cardsOf = ({ model, twins }: GpuIdentity): readonly string[] => (model === null ? [] : [model.id, ...twins])

/** A run may hold nothing that identity could rest on: a bind part alone, or memory parts of single devices. */
const isMeasured = ({ rates, memory }: ProvenDevice): boolean => Object.keys(rates).length > 0 || memory !== null

/**
 * Whatever had not arrived by the instant that counts is a rate of 0, which no card has: that device may be any card, or
 * none (attack 144).
 */
const isInTime = ({ rates, memory }: ProvenDevice): boolean =>
  Object.values(rates).every((rate) => rate > 0) && memory?.perSecond !== 0

function judgeMemory(
  { device, deviceClass, identity }: SeenDevice,
  memory: NonNullable<ProvenDevice['memory']>,
  { run, preset, catalogue, sold, rules, byFewer, isAsBefore }: Context,
): MemoryJudgement {
  const { heldBytes } = memory
  const models = sold?.ok ? sold.claim.models.filter(({ memoryBytes }) => memoryBytes >= heldBytes) : []
  const byRates = identifyByRates({
    ...{ rates: device.rates, kind: deviceClass, catalogue },
    ...(rules === 1 ? {} : { heldBytes }),
    ...(isAsBefore
      ? { claimed: models.map(({ id }) => id) }
      : { identified: isInTime(device) ? cardsOf(identity) : [] }),
  })
  const part = run.challenge.parts[memory.part]!
  // Who reads one memory after the other brings each up once.
  const secondsPerPass = memory.elapsedUs / 1e6 / (memory.read === 'in turns' ? 1 : part.rounds)
  const cards = suppliers({ rates: device.rates, heldBytes: memory.heldBytes, catalogue, byRates, rules })
  const int8 = memory.int8PerSecond
  const perSecond =
    int8 === null
      ? null
      : Math.max(suppliedPerSecond(cards, part.k, catalogue.rules, { shownInt8: int8, version: rules }), byFewer)
  const isProven = preset.secure && memory.read !== 'in turns' && isOwnMemory(memory, byRates, catalogue.rules, rules)
  return {
    heldBytes: memory.heldBytes,
    perSecond: memory.perSecond,
    floorBytes:
      perSecond === null ? null : inferred(Math.max(0, Math.floor(memory.heldBytes - perSecond * secondsPerPass))),
    status: isProven ? 'proven' : 'held',
  }
}

/** §4.0, attack 27: a card the rates point to must have run the class of that card. */
function undersized(seen: readonly SeenDevice[], { preset, catalogue }: Context): RejectReason | null {
  if (!preset.secure) return null
  const classed = seen.map(({ measured, identity: { model } }) => ({ measured, model }))
  const [found] = seen.flatMap(({ device: { device } }, i) =>
    undersizedParts(classed[i]!, classed.toSpliced(i, 1), catalogue.rules).map((part) => ({ device, ...part })),
  )
  if (!found) return null
  const { device, precision, required, ran } = found
  return { code: 'UNDERSIZED_RUN', device, expected: `${precision} m = n = ${required}`, got: ran }
}

function tooShort(given: Timed & { readonly rules: ProtocolVersion }): RejectReason | null {
  const few = given.rules === 1 ? undefined : fewRounds(given.preset, given.run)[0]
  if (few) return { code: 'TOO_SHORT', ...few }
  const [short] = shortParts(given)
  if (!short) return null
  const { part, device, leastUs, elapsedUs } = short
  return { code: 'TOO_SHORT', part, device, expected: `${leastUs} us`, got: `${elapsedUs} us` }
}

const claimedOnly = (devices: number): CardCount => ({
  claimed: claimed(devices),
  least: inferred(1),
  established: false,
  sentence: devices === 1 ? 'one device' : `count claimed: ${devices} devices answered in one window`,
})

function judgeSold(
  text: string,
  sold: ParsedClaim,
  seen: readonly SeenDevice[],
  { preset, catalogue, rules }: Context,
): Judgement['claim'] {
  const of = (verdict: ClaimAnswer, reasons: readonly ClaimReason[]) => ({
    text,
    verdict,
    reasons: rules === 1 ? reasons.map(explainToVersion1) : reasons,
  })
  const alone = (...given: Parameters<typeof claimReason>) => of(claimReason(...given).verdict, [claimReason(...given)])
  const box = { device: null }
  if (!sold.ok) return alone('UNREADABLE_CLAIM', { ...box, got: sold.code, expected: 'READABLE' })
  if (rules > 1 && !preset.secure && seen.every(({ deviceClass }) => deviceClass === 'gpu'))
    return alone('INSECURE_PRESET', { ...box, got: preset.name, expected: 'mainnet' })
  if (!seen.every(({ device }) => isMeasured(device))) return alone('NOTHING_MEASURED', { ...box, got: 0, expected: 1 })
  const identities = seen.map(({ identity }) => identity)
  const devices = seen.map(({ measured }) => measured)
  const { verdict, reasons } = judgeClaim({ claim: sold.claim, devices, identities, catalogue, rules })
  return of(verdict, reasons)
}
