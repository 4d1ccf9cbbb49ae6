import type { Catalogue, GpuModel } from '../identify/catalogue.ts'
import { catalogueHash } from '../identify/catalogueHash.ts'
import { type CardCount, countCards } from '../identify/countCards.ts'
import { rateCeiling } from '../identify/expected.ts'
import { identifyByRates } from '../identify/identifyByRates.ts'
import { type GpuIdentity, identifyGpu } from '../identify/identifyGpu.ts'
import { judgeClaim } from '../identify/judgeClaim.ts'
import type { ClaimAnswer } from '../identify/judgeDevice.ts'
import { parseClaim } from '../identify/parseClaim.ts'
import { undersizedParts } from '../identify/sizeClass.ts'
import {
  C2C_LINK_BYTES_PER_SEC,
  HOST_LINK_BYTES_PER_SEC,
  MEMORY_BANDWIDTH_SHARE,
  type ProtocolVersion,
} from '../params/constants.ts'
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
  readonly reasons: readonly string[]
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
  const scaling = scalingOf(proven)
  const sold = claim === null ? null : parseClaim(claim, catalogue)
  const models = sold?.ok ? sold.claim.models : []
  const devices = inOneWindow(
    proven.map((device) =>
      judgeDevice(device, {
        run,
        preset,
        deviceClass: deviceClasses[device.device] ?? 'gpu',
        catalogue,
        scaling,
        claimed: models,
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
    claim: claim === null || !complete ? null : judgeClaimText(claim, proven, deviceClasses, scaling, catalogue),
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
  readonly claimed: readonly GpuModel[]
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
  { preset, deviceClass, catalogue, scaling }: DeviceContext,
): IdentityJudgement {
  const none = { model: null, confidencePercent: 0, twins: [], closest: [] }
  if (deviceClass === 'cpu') return { status: 'cpu', ...none }
  if (!preset.secure) return { status: 'insecure', ...none }
  if (!isMeasured(device)) return { status: 'unknown', ...none }
  const identity = identifyGpu(measuredOf(device, deviceClass, scaling), catalogue)
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
  const { run, preset, deviceClass, catalogue } = context
  // An H100 and an H200 compute alike: the claim may say by which of the fitting cards the memory is judged.
  const claimed = context.claimed.filter(({ memoryBytes }) => memoryBytes >= memory.heldBytes).map(({ id }) => id)
  const question = {
    rates: device.rates,
    kind: deviceClass,
    catalogue,
    claimed,
  }
  const { counted, copyBandwidth } = identifyByRates(question)
  const part = run.challenge.parts[memory.part]!
  const link = counted?.hostLink === 'c2c' ? C2C_LINK_BYTES_PER_SEC : HOST_LINK_BYTES_PER_SEC
  const secondsPerPass = memory.elapsedUs / 1e6 / part.rounds
  // A slow int8 part must not raise the floor: a known card recomputes as fast as that card can.
  const known = counted ? (rateCeiling(counted, 'int8', catalogue.rules) ?? 0) : 0
  const peak = Math.max(memory.int8PerSecond ?? 0, known)
  const supplied = memory.int8PerSecond === null ? null : (link + peak / part.k) * secondsPerPass
  const fast = copyBandwidth !== null && memory.perSecond >= MEMORY_BANDWIDTH_SHARE * copyBandwidth
  return {
    heldBytes: memory.heldBytes,
    perSecond: memory.perSecond,
    floorBytes: supplied === null ? null : Math.max(0, Math.floor(memory.heldBytes - supplied)),
    status: fast && preset.secure ? 'proven' : 'held',
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

function judgeClaimText(
  text: string,
  proven: readonly ProvenDevice[],
  deviceClasses: readonly DeviceClass[],
  scaling: number | null,
  catalogue: Catalogue,
): ClaimOutcome {
  const parsed = parseClaim(text, catalogue)
  if (!parsed.ok) return { text, verdict: 'unreadable', reasons: [parsed.problem] }
  if (!proven.every(isMeasured)) return { text, verdict: 'unproven', reasons: ['nothing was measured to compare with'] }
  const devices = proven.map((device) => measuredOf(device, deviceClasses[device.device] ?? 'gpu', scaling))
  const { verdict, reasons } = judgeClaim({ claim: parsed.claim, devices, catalogue })
  return { text, verdict, reasons: reasons.map(({ sentence }) => sentence) }
}
