import type { Challenge } from './challenge.ts'
import { kindOf } from './partKinds.ts'
import { STEADY_ROUNDS, TIMED_ROUNDS, type Timings } from './planPart.ts'
import type { PartEvidence } from './verifyPart.ts'

/** What a calibration run showed: seconds of one root in each part, fastest and slowest device. */
export function timingsOf(challenge: Challenge, parts: readonly PartEvidence[], roundTripSeconds: number): Timings {
  const timings = new Map<string, { fastest: number; slowest: number }>()
  for (const [p, part] of challenge.parts.entries()) {
    const { devices, zSentUs } = parts[p]!
    const isSeries = kindOf(part).phases.length === 1
    const from = new Map(devices.map(({ device }) => [device, 0]))
    for (const [i, phase] of kindOf(part).phases.entries()) {
      const startUs = i === 0 ? 0 : (zSentUs ?? 0)
      const seconds = devices.map(({ arrivalsUs, device }) => {
        const first = from.get(device)!
        from.set(device, first + phase.roots(part, device))
        const own = arrivalsUs.slice(first, from.get(device)).map((arrival) => arrival - startUs)
        const least = isSeries && own.length >= TIMED_ROUNDS ? LEAST_SHARE_OF_SERIES : LEAST_SHARE_OF_MEAN
        const gapOf = isSeries && own.length >= STEADY_ROUNDS ? medianGap : meanGap
        return secondsPerRoot(own, gapOf(own), { roundTripSeconds, least }) / phase.timing(part, device).units
      })
      const { key } = phase.timing(part, devices[0]!.device)
      timings.set(key, { fastest: Math.min(...seconds), slowest: Math.max(...seconds) })
    }
  }
  return timings
}

/** The first root has more to do than the others, yet rarely so much that this share of the mean is above a gap. */
const LEAST_SHARE_OF_MEAN = 0.25

/** Rounds of the size that counts last longer than what comes before the first: a longer part would be cheap (attack 136). */
const LEAST_SHARE_OF_SERIES = 0.5

/**
 * The mean gap between roots: the first one is slow, and any may be held up. Roots that were read in one go have no gap, and
 * a part planned by it would be far too long for an honest box to finish; so never less than a share of the mean from
 * the start, with the way there and back taken off.
 */
function secondsPerRoot(
  arrivalsUs: readonly number[],
  gapUs: number,
  { roundTripSeconds, least }: { readonly roundTripSeconds: number; readonly least: number },
): number {
  const meanUs = (arrivalsUs.at(-1)! - 1e6 * roundTripSeconds) / arrivalsUs.length
  return Math.max(20, gapUs, least * meanUs) / 1e6
}

function meanGap(arrivalsUs: readonly number[]): number {
  const lastUs = arrivalsUs.at(-1)!
  return arrivalsUs.length > 1 ? (lastUs - arrivalsUs[0]!) / (arrivalsUs.length - 1) : lastUs
}

/** Of many: one root that has to be sent again on the way says nothing of the card (attack 498). */
const medianGap = (arrivalsUs: readonly number[]): number =>
  arrivalsUs
    .slice(1)
    .map((arrival, i) => arrival - arrivalsUs[i]!)
    .sort((a, b) => a - b)[(arrivalsUs.length - 1) >> 1]!
