import type { StatedJudgement } from './judgementSchema.ts'

type Sustained = NonNullable<StatedJudgement['devices'][number]['sustained']>

/** Mean rates over equal shares of the rounds, for drawing. */
const POINTS = 60

/** The sustained run as a curve: diagnostics from the gaps between arrivals, never the rate itself (§4.3). */
export function sustainedCurve(
  arrivalsUs: readonly number[],
  opsPerRound: number,
): Omit<Sustained, 'precision' | 'perSecond' | 'peakShare'> {
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
