import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { Unit } from '../work/kind.ts'
import type { Doubt } from './doubts.ts'

/** W5.8. A work may be so much faster than its box was proven to be: two runs of one card differ. */
const MOST_SHARE = 1.1

/** How fast a work was by its watcher's clock, and how fast its box was proven to be. */
export interface ClockBound {
  readonly precision: Precision
  readonly perSecond: number
  readonly provenPerSecond: number
}

/** What a receipt says of its speed. */
interface TimedWork {
  readonly prover: string
  readonly credited: number
  /** Null where nobody had a clock. */
  readonly elapsedUs: number | null
  /** Null: any. */
  readonly unit: Unit | null
}

/** What a certificate shows of the speed of a box. */
interface ProvenBox {
  readonly prover: string
  readonly devices: readonly { readonly rates: Readonly<Partial<Record<Precision, number>>> }[]
}

/**
 * W5.8. The clock against the proven speed. Work that would have needed a faster box in its time is not shown to be this
 * box's; nor is it where the certificate is of another box, has no such speed, or nobody had a clock.
 */
export function boundByClock(
  { prover, credited, elapsedUs, unit }: TimedWork,
  box: ProvenBox,
): { readonly bound: ClockBound | null; readonly doubts: readonly Doubt[] } {
  const unbound = (doubt: Doubt) => ({ bound: null, doubts: [doubt] })
  if (prover !== box.prover) return unbound({ code: 'CERTIFICATE_OF_ANOTHER_BOX' })
  // A kind that names no unit may use any: the fastest bounds it.
  const [fastest] = togetherOf(box)
    .filter(({ precision }) => unit === null || precision === unit)
    .sort((a, b) => b.provenPerSecond - a.provenPerSecond)
  if (!fastest) return unbound({ code: 'NO_SUCH_SPEED', where: unit ?? 'none at all' })
  if (fastest.provenPerSecond === Number.POSITIVE_INFINITY)
    return unbound({ code: 'NO_SUCH_SPEED', where: `${fastest.precision} of 2^53 - 1 or more` })
  if (elapsedUs === null) return unbound({ code: 'NO_CLOCK' })
  const perSecond = credited / (Math.max(elapsedUs, 1) / 1e6)
  const isTooFast = perSecond > MOST_SHARE * fastest.provenPerSecond
  return { bound: { ...fastest, perSecond }, doubts: isTooFast ? [{ code: 'FASTER_THAN_PROVEN' }] : [] }
}

/**
 * Each precision that all devices showed, of all of them together. A figure of a certificate ends at 2^53 - 1: one device
 * that shows it may be of any speed. A sum of several has no such end (attack 322).
 */
function togetherOf({ devices }: ProvenBox): Pick<ClockBound, 'precision' | 'provenPerSecond'>[] {
  const shared = PRECISION_NAMES.filter((name) => devices.every(({ rates }) => rates[name]))
  return shared.map((precision) => {
    const rates = devices.map(({ rates }) => rates[precision]!)
    const isBounded = rates.every((rate) => rate < Number.MAX_SAFE_INTEGER)
    const provenPerSecond = isBounded ? rates.reduce((sum, rate) => sum + rate) : Number.POSITIVE_INFINITY
    return { precision, provenPerSecond }
  })
}
