import { PRECISION_NAMES } from '../../params/precision.ts'
import { isWhole, type PartKind, type PartShape } from '../part.ts'
import { calibrationPart, lasting, type PlanInputs } from '../planPart.ts'
import { classK } from '../sizeClass.ts'
import { series } from './series.ts'

/** Of a short part the way to the box and back would be much: up to twice as long, it is a fiftieth (attack 500). */
const ROUND_TRIPS = 50
const lengthOver = ({ roundTripSeconds }: PlanInputs, seconds: number): number =>
  Math.max(seconds, Math.min(2 * seconds, ROUND_TRIPS * roundTripSeconds))

/** §4: a series of products in one precision, as fast as the device can. */
export const rounds: PartKind<PartShape<'rounds'>> = {
  ...series('rounds'),
  name: 'rounds',
  precisions: PRECISION_NAMES,
  k: classK,
  /** A precision asked twice of all devices is sustained the second time. */
  role: (parts, p) => {
    const part = parts[p]!
    if (!isWhole(part)) return 'alone'
    const first = parts.findIndex(
      (other) => other.kind === part.kind && other.precision === part.precision && isWhole(other),
    )
    return first === p ? 'peak' : 'sustained'
  },
  label: ({ precision }) => precision,
  plan: (inputs, size, timings) => {
    const { precisions, partSeconds, sustainedSeconds } = inputs
    const sustained = precisions.includes('bf16') ? 'bf16' : precisions[0]
    const asked = precisions.map((precision) => ({ precision, seconds: lengthOver(inputs, partSeconds) }))
    if (timings && sustainedSeconds > 0 && sustained) asked.push({ precision: sustained, seconds: sustainedSeconds })
    return asked.map(({ precision, seconds }) =>
      lasting(inputs, calibrationPart(inputs, rounds, precision, size(precision)), seconds, timings),
    )
  },
}
