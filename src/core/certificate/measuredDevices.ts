import type { MeasuredGpu } from '../identify/measured.ts'
import type { ProtocolVersion } from '../params/constants.ts'
import type { Precision } from '../params/precision.ts'
import { countedPerSecond, type Figure, figuresOf } from '../proof/figures.ts'
import type { DeviceClass } from '../proof/sizeClass.ts'
import type { Run } from '../proof/verifyPart.ts'
import { type PartRole, partRole } from './partRole.ts'
import { type Curve, sustainedCurve } from './sustainedCurve.ts'

/** Everything proven of one device, before anything is inferred from it. Whole numbers throughout. */
export interface ProvenDevice {
  readonly device: number
  readonly rates: Readonly<Partial<Record<Precision, number>>>
  readonly classes: Readonly<Partial<Record<Precision, number>>>
  readonly sustained: (Curve & { readonly precision: Precision; readonly perSecond: number }) | null
  /** From the first memory part of all devices; `part` says which. */
  readonly memory: {
    readonly part: number
    readonly heldBytes: number
    readonly perSecond: number
    readonly elapsedUs: number
    /** All that the device showed in int8: how fast it could have recomputed instead. */
    readonly int8PerSecond: number | null
  } | null
  readonly bindPerSecond: number | null
  readonly alonePerSecond: number | null
  readonly linkPerSecond: number | null
}

export function provenDevices(run: Run, rules: ProtocolVersion): ProvenDevice[] {
  const counted = countedPerSecond(run, rules)
  const figures = figuresOf(run).map((figure, i) => ({
    ...figure,
    perSecond: counted[i]!,
    shownPerSecond: figure.perSecond,
  }))
  return Array.from({ length: run.challenge.deviceCount }, (_, device) => {
    const own = figures.filter((figure) => figure.device === device)
    const of = (role: PartRole) => own.filter(({ part }) => partRole(run.challenge, part) === role)
    const memory = of('memory')[0]
    const int8 = of('peak').find(({ precision }) => precision === 'int8')
    return {
      device,
      rates: Object.fromEntries(of('peak').map(({ precision, perSecond }) => [precision, perSecond])),
      classes: Object.fromEntries(of('peak').map(({ precision, part }) => [precision, run.challenge.parts[part]!.m])),
      sustained: sustainedOf(run, of('sustained')[0]),
      memory: memory
        ? { ...memoryOf(memory), int8PerSecond: int8 ? Math.max(int8.perSecond, int8.shownPerSecond) : null }
        : null,
      bindPerSecond: of('bind')[0]?.perSecond ?? null,
      alonePerSecond: of('alone')[0]?.perSecond ?? null,
      linkPerSecond: of('link')[0]?.perSecond ?? null,
    }
  })
}

const memoryOf = ({ part, heldBytes, perSecond, elapsedUs }: Figure) => ({ part, heldBytes, perSecond, elapsedUs })

function sustainedOf(run: Run, figure: Figure | undefined): ProvenDevice['sustained'] {
  if (!figure) return null
  const { m, n, k } = run.challenge.parts[figure.part]!
  const { arrivalsUs } = run.parts[figure.part]!.devices.find(({ device }) => device === figure.device)!
  return { precision: figure.precision, perSecond: figure.perSecond, ...sustainedCurve(arrivalsUs, 2 * m * n * k) }
}

/** §8: rates together over rates alone, in thousandths; null unless each of several devices has run alone. */
export function scalingOf(devices: readonly ProvenDevice[]): number | null {
  if (devices.length < 2 || devices.some(({ alonePerSecond }) => alonePerSecond === null)) return null
  const alone = devices.reduce((sum, { alonePerSecond }) => sum + alonePerSecond!, 0)
  if (alone === 0) return null
  const together = devices.reduce((sum, { rates }) => sum + (Object.values(rates)[0] ?? 0), 0)
  return Math.min(1000, Math.floor((1000 * together) / alone))
}

/** The device as identity sees it: proven values only. */
export function measuredOf(device: ProvenDevice, deviceClass: DeviceClass, scaling: number | null): MeasuredGpu {
  const { rates, classes, memory, sustained } = device
  return {
    kind: deviceClass,
    rates,
    classes,
    ...(memory ? { memoryBytes: memory.heldBytes, bandwidth: memory.perSecond } : {}),
    ...(sustained ? { sustainedShare: sustained.lastShare / 1000 } : {}),
    ...(scaling === null ? {} : { scaling: scaling / 1000 }),
  }
}
