import { type Challenge, fillBytes } from './challenge.ts'
import type { PartEvidence } from './evidence.ts'
import { partKey, type Timings } from './planRun.ts'

/** What a calibration run showed: seconds of one root in each part, fastest and slowest device. */
export function timingsOf(challenge: Challenge, parts: readonly PartEvidence[], roundTripSeconds: number): Timings {
  const timings = new Map<string, { fastest: number; slowest: number }>()
  const note = (key: string, seconds: readonly number[]) =>
    timings.set(key, { fastest: Math.min(...seconds), slowest: Math.max(...seconds) })
  const secondsOf = (arrivalsUs: readonly number[], startUs = 0) =>
    secondsPerRoot(
      arrivalsUs.map((arrival) => arrival - startUs),
      roundTripSeconds,
    )
  for (const [p, part] of challenge.parts.entries()) {
    const { devices, zSentUs } = parts[p]!
    if (part.kind !== 'memory') {
      note(
        partKey(part),
        devices.map(({ arrivalsUs }) => secondsOf(arrivalsUs)),
      )
      continue
    }
    note(
      'pass byte',
      devices.map(
        ({ arrivalsUs, device }) =>
          secondsOf(arrivalsUs.slice(part.kept[device]!), zSentUs ?? 0) / fillBytes(part, device),
      ),
    )
    note(
      'fill',
      devices.map(({ arrivalsUs, device }) => secondsOf(arrivalsUs.slice(0, part.kept[device]!))),
    )
  }
  return timings
}

/** The first root has more to do than the others, yet rarely so much that this share of the mean is above a gap. */
const LEAST_SHARE_OF_MEAN = 0.25

/**
 * The mean gap between roots: the first one is slow, and any may be held up. Roots that were read in one go have no gap, and
 * a part planned by it would be far too long for an honest box to finish; so never less than a quarter of the mean from
 * the start, with the way there and back taken off.
 */
function secondsPerRoot(arrivalsUs: readonly number[], roundTripSeconds: number): number {
  const lastUs = arrivalsUs.at(-1)!
  const meanUs = (lastUs - 1e6 * roundTripSeconds) / arrivalsUs.length
  const gapUs = arrivalsUs.length > 1 ? (lastUs - arrivalsUs[0]!) / (arrivalsUs.length - 1) : lastUs
  return Math.max(20, gapUs, LEAST_SHARE_OF_MEAN * meanUs) / 1e6
}
