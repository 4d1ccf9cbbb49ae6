import type { Challenge } from '../proof/challenge.ts'
import { kindOf, type Part } from '../proof/partKinds.ts'
import { secondsBehind } from '../proof/planPart.ts'
import type { PartEvidence } from '../proof/verifyPart.ts'

/** When the run that was judged took place, in the validator's monotonic time: from its first T0 to its last root. */
export interface RunWindow {
  readonly fromUs: number
  readonly untilUs: number
  /** T0 of every part. */
  readonly startedUs: readonly number[]
  /** In some part the roots came late, and then fast: the card did something else before. */
  readonly heldBack: boolean
}

/** Between the moment a cohort is let go into a part and T0 lies nothing but our own work: more is another window (§8). */
export const WINDOW_SLACK_US = 2_000_000

/** Null where no part was finished. */
export function windowOf(
  challenge: Challenge,
  parts: readonly PartEvidence[],
  startedUs: readonly number[],
): RunWindow | null {
  const last = parts.at(-1)
  if (!last) return null
  const rootsUs = last.devices.map(({ arrivalsUs }) => arrivalsUs.at(-1) ?? 0)
  const untilUs = startedUs[parts.length - 1]! + Math.max(0, ...rootsUs)
  const heldBack = parts.some((evidence, p) => {
    const part = challenge.parts[p]!
    const plannedUs = 1e6 * secondsBehind(part)
    return pacesOf(part, evidence).some((arrivalsUs) => isHeldBack(arrivalsUs, plannedUs))
  })
  return { fromUs: startedUs[0]!, untilUs, startedUs, heldBack }
}

/** When the roots of each device came, from the start of each phase: memory is filled at a pace, and read at one (attack 137). */
function pacesOf(part: Part, { devices, zSentUs }: PartEvidence): readonly (readonly number[])[] {
  return devices.flatMap(({ device, arrivalsUs }) => {
    let first = 0
    return kindOf(part).phases.map((phase, i) => {
      const own = arrivalsUs.slice(first, first + phase.roots(part, device))
      first += own.length
      return own.map((atUs) => atUs - (i === 0 ? 0 : (zSentUs ?? 0)))
    })
  })
}

/** So much later than at an even pace, as a share of the part's time, the roots of an honest box may come on average. */
const LATER = 0.08

/** What is over sooner says nothing about a pace. */
const SHORTEST_PACE_US = 1_000_000

/**
 * A card that serves one box first and another afterwards shows all of its speed to one, and half of it to the other. What
 * may be late is a share of the time that was planned: a box that gets itself a longer part has no longer to wait (attack 136).
 */
export function isHeldBack(arrivalsUs: readonly number[], plannedUs = Number.POSITIVE_INFINITY): boolean {
  const lastUs = arrivalsUs.at(-1) ?? 0
  const rounds = arrivalsUs.length
  const meanUs = arrivalsUs.reduce((sum, atUs) => sum + atUs, 0) / rounds
  const evenUs = (lastUs * (rounds + 1)) / (2 * rounds)
  return lastUs >= SHORTEST_PACE_US && meanUs > evenUs + LATER * Math.min(lastUs, plannedUs)
}

/**
 * §8: whether a run counts for its cohort: each of its parts began when the cohort was let go into it. A run begun anew did
 * not. So a part that two runs have in common was under way in both at once, for all of the shorter but the slack.
 */
export function isInWindow({ startedUs, heldBack }: RunWindow, openedUs: readonly (number | null)[]): boolean {
  if (heldBack) return false
  return startedUs.every((atUs, part) => {
    const opened = openedUs[part] ?? null
    return opened !== null && atUs >= opened && atUs - opened <= WINDOW_SLACK_US
  })
}
