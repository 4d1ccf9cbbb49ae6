import type { Precision } from '../params/precision.ts'
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
  readonly unit: Precision | null
}

/** What a certificate shows of the speed of a box, all its devices together. */
interface ProvenBox {
  readonly prover: string
  readonly rates: Readonly<Partial<Record<Precision, number>>>
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
  const proven = Object.entries(box.rates) as [Precision, number][]
  // A kind that names no unit may use any: the fastest bounds it.
  const [fastest] = proven.filter(([name]) => unit === null || name === unit).sort((a, b) => b[1] - a[1])
  if (!fastest) return unbound({ code: 'NO_SUCH_SPEED', where: unit ?? 'none at all' })
  if (elapsedUs === null) return unbound({ code: 'NO_CLOCK' })
  const [precision, provenPerSecond] = fastest
  const perSecond = credited / (Math.max(elapsedUs, 1) / 1e6)
  // A figure of a certificate ends there: the box showed that or more.
  const isBounded = provenPerSecond < Number.MAX_SAFE_INTEGER
  const isTooFast = isBounded && perSecond > MOST_SHARE * provenPerSecond
  return { bound: { precision, perSecond, provenPerSecond }, doubts: isTooFast ? [{ code: 'FASTER_THAN_PROVEN' }] : [] }
}
