import type { Precision } from '../params/precision.ts'
import { PART_KINDS, type PlannedPart } from './partKinds.ts'
import { rounds } from './parts/rounds.ts'
import { ALONE_SHARE, calibrationPart, fits, type PlanInputs, partKey, type Timings } from './planPart.ts'
import { LONGEST_ROUND_SECONDS, SIZING_SIZE, SMALLEST_SIZE } from './sizeClass.ts'

/** First calibration: small products, only to choose the size class. Its results are discarded. */
export function planSizing(inputs: PlanInputs): PlannedPart[] {
  const smallest = inputs.devices.some((device) => device.class === 'cpu') ? 128 : SIZING_SIZE
  return inputs.precisions.map((precision) => {
    const part = { ...calibrationPart(inputs, rounds, precision, smallest), rounds: 2 }
    const size = Math.min(smallest, fits(inputs, precision, part.k))
    return { ...part, m: size, n: size }
  })
}

/** A gap below this may be that of a root which was sent again on the way, perhaps twice. */
const UNSTEADY_SECONDS = 1
/** So many that a line which is 0.2 s slower than it was when it was pinged is little of their mean. */
const ASKED_AGAIN = 32

/**
 * The parts of the first calibration again with more rounds, of which two roots made the class small, and a late one may
 * have: on an H200 they are 4 ms apart, and from 13 ms on its class is halved (attack 498).
 */
export function planSteadySizing(inputs: PlanInputs, sizing: readonly PlannedPart[], timings: Timings): PlannedPart[] {
  const isUnsteady = (part: PlannedPart) => {
    const { slowest } = timings.get(partKey(part))!
    const precision = part.precision
    return (
      slowest < UNSTEADY_SECONDS && chooseSize(inputs, precision, sizing, timings) < fits(inputs, precision, part.k)
    )
  }
  // Whose class nobody judges need not be asked twice.
  if (!inputs.preset.secure || inputs.devices[0]!.class === 'cpu') return []
  return sizing.filter(isUnsteady).map((part) => ({ ...part, rounds: ASKED_AGAIN }))
}

/**
 * §4.0. The largest m = n that fits free memory and keeps a round under 200 ms. A slow card gets small rounds rather than
 * few: where a box is seen once in a second or less, nobody knows what it did in between (attack 400).
 */
export function chooseSize(
  inputs: PlanInputs,
  precision: Precision,
  sizing: readonly PlannedPart[],
  timings: Timings,
): number {
  const part = sizing.find((candidate) => candidate.precision === precision)!
  const seconds = timings.get(partKey(part))!.slowest
  let size = fits(inputs, precision, part.k)
  const least = inputs.devices.some((device) => device.class === 'cpu') ? part.m : Math.min(part.m, SMALLEST_SIZE)
  while (size > least && seconds * (size / part.m) ** 2 > LONGEST_ROUND_SECONDS) size /= 2
  return size
}

/** Second calibration, at the chosen sizes: how many rounds and passes fill the wanted time. Discarded too. */
export const planTiming = (inputs: PlanInputs, size: (precision: Precision) => number): PlannedPart[] =>
  PART_KINDS.flatMap((kind) => kind.plan(inputs, size, null))

/** The run itself: the parts of every kind, and each device alone where there are several. */
export function planRun(inputs: PlanInputs, size: (precision: Precision) => number, timings: Timings): PlannedPart[] {
  const parts = PART_KINDS.flatMap((kind) => kind.plan(inputs, size, timings))
  return [...parts, ...aloneParts(inputs, parts)]
}

/** §8. Alone runs of the first precision: scaling is the rates together over the rates alone. */
function aloneParts({ devices, precisions, preset }: PlanInputs, [first]: readonly PlannedPart[]): PlannedPart[] {
  if (devices.length < 2 || precisions.length === 0 || !first) return []
  return devices.map((_, device) => ({
    ...first,
    mask: 2 ** device,
    rounds: Math.max(preset.leastRounds, Math.ceil(first.rounds / ALONE_SHARE)),
  }))
}
