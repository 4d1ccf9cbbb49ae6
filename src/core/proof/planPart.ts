import type { Precision } from '../params/precision.ts'
import type { Preset } from '../params/presets.ts'
import type { PartKind, PartShape } from './part.ts'
import { largestSize, type SizedDevice } from './sizeClass.ts'

export interface PlanInputs {
  readonly preset: Preset
  readonly devices: readonly SizedDevice[]
  readonly precisions: readonly Precision[]
  readonly memory: boolean
  readonly bind: boolean
  /** Whether cards that can read one another are asked to: yes, unless said otherwise. It shows nothing that is paid. */
  readonly link?: boolean
  readonly openings: number
  readonly partSeconds: number
  readonly sustainedSeconds: number
  /** The user's cap on m = n. */
  readonly maxSize: number
  readonly roundTripSeconds: number
}

/** Seconds one round (or pass, or fill round) took in a calibration run, fastest and slowest device, by part key. */
export type Timings = ReadonlyMap<string, { readonly fastest: number; readonly slowest: number }>

export const partKey = (part: Pick<PartShape, 'kind' | 'precision'>): string => `${part.kind} ${part.precision}`

/** The largest m = n that every device has room for. */
export const fits = (inputs: PlanInputs, precision: Precision, k: number): number =>
  Math.min(
    2 ** Math.floor(Math.log2(inputs.maxSize)),
    ...inputs.devices.map((device) => largestSize(inputs.preset, device.class, precision, k, 0.9 * device.freeBytes)),
  )

/** Enough that one held-up root does not decide how long a part is. */
export const TIMED_ROUNDS = 4

/** From so many on a calibration goes by the gap in the middle. */
export const STEADY_ROUNDS = 8

/** Of each device in each part: a calibration of which half was not computed is caught in 255 of 256 cases by one part. */
const CALIBRATION_OPENINGS = 8

/** A part of a calibration, of all devices. */
export function calibrationPart<K extends string, P extends Precision>(
  inputs: PlanInputs,
  kind: Pick<PartKind<PartShape<K, P>>, 'name' | 'k'>,
  precision: P,
  size: number,
): PartShape<K, P> {
  return {
    kind: kind.name,
    precision,
    m: size,
    n: size,
    k: kind.k(inputs.preset, inputs.devices[0]!.class, precision),
    rounds: TIMED_ROUNDS,
    openings: CALIBRATION_OPENINGS,
    mask: 2 ** inputs.devices.length - 1,
    kept: inputs.devices.map(() => 0),
    limitMs: 120_000,
    openLimitMs: 120_000,
  }
}

/** The part with as many rounds as last so long; as it is in a calibration. */
export function lasting<S extends PartShape>(inputs: PlanInputs, part: S, seconds: number, timings: Timings | null): S {
  if (!timings) return part
  const gap = timings.get(partKey(part))
  const rounds = plannedRounds(
    gap && seconds > 0 ? Math.ceil(seconds / gap.fastest) : inputs.preset.fixedRounds,
    inputs,
  )
  const limitMs = limitFor(rounds * (gap?.slowest ?? 1), 60 + 10 * seconds)
  return { ...part, rounds, openings: inputs.openings, limitMs, openLimitMs: limitMs }
}

/** Parts of one device last a third of the part that they are compared with. */
export const ALONE_SHARE = 3

/** Roots of one part over all devices. More would fill our memory, and the certificate, with what costs a liar nothing. */
const MOST_ROOTS = 2 ** 15

/** A calibration of two roots in one packet must not buy a part of a million rounds (attack 44). */
export const boundedRounds = (rounds: number, devices: number): number =>
  Math.min(rounds, Math.floor(MOST_ROOTS / devices))

export const plannedRounds = (wanted: number, { preset, devices }: PlanInputs): number =>
  boundedRounds(Math.max(preset.leastRounds, wanted), devices.length)

/** §4.1 has 32 bits for a limit, and a timer of Node 31. */
const LONGEST_LIMIT_MS = 2 ** 31 - 1

/**
 * Far above what an honest box needs, far below for ever: the rate is what judges speed, the limit only ends a wait.
 * `most` is ours: a box that was slow in the calibration does not buy days of our time (attack 44).
 */
export const limitFor = (expectedSeconds: number, most: number): number =>
  Math.min(LONGEST_LIMIT_MS, Math.ceil(60_000 + 5_000 * Math.min(expectedSeconds, most)))

/** How long a part was expected to take when its limit was set, for people who watch. */
export const secondsBehind = ({ limitMs }: Pick<PartShape, 'limitMs'>): number =>
  Math.max(0.1, (limitMs - 60_000) / 5_000)
