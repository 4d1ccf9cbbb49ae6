import type { MeasuredGpu } from '../identify/measured.ts'
import type { ProtocolVersion } from '../params/constants.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import { type Proven, proven, sum } from '../params/provenance.ts'
import { countedPerSecond, type Figure, figuresOf } from '../proof/figures.ts'
import type { PartRole } from '../proof/part.ts'
import { isReadTogether, partRole } from '../proof/partKinds.ts'
import type { DeviceClass } from '../proof/sizeClass.ts'
import type { Run } from '../proof/verifyPart.ts'
import type { StatedJudgement } from './judgementSchema.ts'

type StatedDevice = StatedJudgement['devices'][number]
type SustainedRate = NonNullable<ProvenDevice['sustained']>

/** Everything proven of one device, before anything is inferred from it. Whole numbers throughout. */
export type ProvenDevice = Proven<
  Omit<StatedDevice, 'memory' | 'bindShare' | 'identity'> & {
    /** From the first memory part of all devices; `part` says which. */
    readonly memory: {
      readonly part: number
      readonly heldBytes: number
      readonly perSecond: number
      /** Of the device that took longest, where the passes of all follow from each other. */
      readonly elapsedUs: number
      /** How the memories of several devices were read; null of one alone. */
      readonly read: MeasuredGpu['memoriesRead'] | null
      /** All that the device showed in int8: how fast it could have recomputed instead. */
      readonly int8PerSecond: number | null
    } | null
  }
>

/** The one place where evidence becomes proven values; `asBefore` attack 465. */
export function provenDevices(run: Run, rules: ProtocolVersion, asBefore = false): ProvenDevice[] {
  const { parts, deviceCount } = run.challenge
  const counted = countedPerSecond(run, rules)
  const figures = figuresOf(run).map((figure, i) => ({
    ...figure,
    perSecond: counted[i]!,
    shownPerSecond: figure.perSecond,
  }))
  const longestUs = (p: number) =>
    Math.max(...figures.filter(({ part }) => part === p).map(({ elapsedUs }) => elapsedUs))
  return Array.from({ length: deviceCount }, (_, device) => {
    const own = figures.filter((figure) => figure.device === device)
    const of = (role: PartRole) => own.filter(({ part }) => partRole(parts, part) === role)
    const memory = of('memory')[0]
    const isJoint = memory !== undefined && isReadTogether(parts[memory.part]!)
    const int8 = of('peak').find(({ precision }) => precision === 'int8')
    return proven({
      device,
      rates: Object.fromEntries(of('peak').map(({ precision, perSecond }) => [precision, perSecond])),
      classes: Object.fromEntries(of('peak').map(({ precision, part }) => [precision, parts[part]!.m])),
      sustained: sustainedOf(run, of('sustained')[0], rules === 1 ? null : of('peak')),
      memory: memory
        ? {
            ...memoryOf(memory),
            ...(isJoint ? { elapsedUs: longestUs(memory.part) } : {}),
            read: isJoint ? 'together' : deviceCount === 1 ? null : rules === 1 || asBefore ? 'not asked' : 'in turns',
            int8PerSecond: int8 ? Math.max(int8.perSecond, int8.shownPerSecond) : null,
          }
        : null,
      bindPerSecond: of('bind')[0]?.perSecond ?? null,
      alonePerSecond: of('alone')[0]?.perSecond ?? null,
      linkPerSecond: of('link')[0]?.perSecond ?? null,
    })
  })
}

/** A figure with the rate that counts, and the one of C6. */
interface CountedFigure extends Figure {
  readonly shownPerSecond: number
}

const memoryOf = ({ part, heldBytes, perSecond, elapsedUs }: Figure) => ({ part, heldBytes, perSecond, elapsedUs })

function sustainedOf(
  run: Run,
  figure: CountedFigure | undefined,
  peaks: readonly CountedFigure[] | null,
): StatedDevice['sustained'] {
  if (!figure) return null
  const { precision, shownPerSecond } = figure
  const { m, n, k } = run.challenge.parts[figure.part]!
  const { arrivalsUs } = run.parts[figure.part]!.devices.find(({ device }) => device === figure.device)!
  const peak = peaks?.find((candidate) => candidate.precision === precision)?.perSecond
  return {
    precision,
    // What held to the end: the best of the second half is not sustained.
    perSecond: Math.min(figure.perSecond, shownPerSecond),
    ...sustainedCurve(arrivalsUs, 2 * m * n * k),
    ...(peak === undefined ? {} : { peakShare: thousandths(shownPerSecond, peak) }),
  }
}

/** Mean rates over equal shares of the rounds, for drawing. */
const POINTS = 60

/** The sustained run as a curve: diagnostics from the gaps between arrivals, never the rate itself (§4.3). */
function sustainedCurve(
  arrivalsUs: readonly number[],
  opsPerRound: number,
): Omit<NonNullable<StatedDevice['sustained']>, 'precision' | 'perSecond' | 'peakShare'> {
  const gaps = arrivalsUs.map((arrival, i) => Math.max(1, arrival - (arrivalsUs[i - 1] ?? 0)))
  const rate = (rounds: number, us: number) => Math.floor((rounds * opsPerRound * 1e6) / us)
  const sorted = [...gaps].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  const third = Math.max(1, Math.floor(gaps.length / 3))
  const sum = (part: readonly number[]) => part.reduce((total, gap) => total + gap, 0)
  const bins = Math.min(POINTS, gaps.length)
  return {
    medianPerSecond: rate(1, at(0.5)),
    lowPerSecond: rate(1, at(0.95)),
    leastPerSecond: rate(1, sorted.at(-1)!),
    lastShare: Math.floor((1000 * sum(gaps.slice(0, third))) / sum(gaps.slice(-third))),
    dips: gaps.filter((gap) => gap > 1.5 * at(0.5)).length,
    points: Array.from({ length: bins }, (_, i) => {
      const part = gaps.slice(Math.floor((i * gaps.length) / bins), Math.floor(((i + 1) * gaps.length) / bins))
      return rate(part.length, sum(part))
    }),
  }
}

const thousandths = (part: number, whole: number): number =>
  whole === 0 ? 0 : Number((1000n * BigInt(part)) / BigInt(whole))

/**
 * What is left of its speed while a device works. Roots that wait and are sent at an even pace make the last third look
 * like the first; they cannot make the whole part shorter, so its mean against the short part counts too (attack 94).
 */
const shareOf = ({ lastShare, peakShare }: SustainedRate): Proven =>
  proven(Math.min(lastShare, peakShare ?? lastShare) / 1000)

/** §8: rates together over rates alone, in thousandths; null unless each of several devices has run alone. */
export function scalingOf(devices: readonly ProvenDevice[]): Proven | null {
  if (devices.length < 2 || devices.some(({ alonePerSecond }) => alonePerSecond === null)) return null
  const alone = sum(devices.map(({ alonePerSecond }) => alonePerSecond!))
  if (alone === 0) return null
  const together = sum(devices.flatMap(({ rates }) => Object.values(rates)[0] ?? []))
  return proven(Math.min(1000, Math.floor((1000 * together) / alone)))
}

export interface MeasuredContext {
  readonly deviceClass: DeviceClass
  readonly scaling: Proven | null
  /** The precisions the device said it has; any other that it did not show was declined. */
  readonly offered?: readonly Precision[] | undefined
}

/** The device as identity sees it: proven values, and what it declined. */
export function measuredOf(device: ProvenDevice, { deviceClass, scaling, offered }: MeasuredContext): MeasuredGpu {
  const { rates, classes, memory, sustained, bindPerSecond } = device
  const declined = PRECISION_NAMES.filter((name) => !offered?.includes(name) && rates[name] === undefined)
  return {
    kind: deviceClass,
    rates,
    classes,
    ...(offered ? { declined } : {}),
    ...(memory ? { memoryBytes: memory.heldBytes, bandwidth: memory.perSecond } : {}),
    ...(memory?.read ? { memoriesRead: memory.read } : {}),
    ...(bindPerSecond === null ? {} : { bindRate: bindPerSecond }),
    ...(sustained ? { sustainedShare: shareOf(sustained) } : {}),
    ...(scaling === null ? {} : { scaling: proven(scaling / 1000) }),
  }
}
