import { type Challenge, fillBytes } from './challenge.ts'
import type { PartEvidence } from './evidence.ts'
import { partKey, type Timings } from './planRun.ts'

/** What a calibration run showed: the last gap between two roots of each part, fastest and slowest device. */
export function timingsOf(challenge: Challenge, parts: readonly PartEvidence[]): Timings {
  const timings = new Map<string, { fastest: number; slowest: number }>()
  const note = (key: string, seconds: readonly number[]) =>
    timings.set(key, { fastest: Math.min(...seconds), slowest: Math.max(...seconds) })
  for (const [p, part] of challenge.parts.entries()) {
    const { devices } = parts[p]!
    const gaps = devices.map(({ arrivalsUs }) => lastGap(arrivalsUs))
    if (part.kind !== 'memory') {
      note(partKey(part), gaps)
      continue
    }
    note(
      'pass byte',
      devices.map(({ device }, i) => gaps[i]! / fillBytes(part, device)),
    )
    note(
      'fill',
      devices.map(({ arrivalsUs, device }) => lastGap(arrivalsUs.slice(0, part.kept[device]!))),
    )
  }
  return timings
}

/** Never zero: two roots can arrive in one packet. */
const lastGap = (arrivalsUs: readonly number[]): number =>
  Math.max(20, arrivalsUs.at(-1)! - (arrivalsUs.at(-2) ?? 0)) / 1e6
