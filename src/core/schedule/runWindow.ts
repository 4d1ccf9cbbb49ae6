import { partRole } from '../certificate/partRole.ts'
import type { Challenge } from '../proof/challenge.ts'
import type { PartEvidence } from '../proof/evidence.ts'

/** From T0 to the last root, in the validator's monotonic time. */
export interface Span {
  readonly fromUs: number
  readonly untilUs: number
}

/** When the run that was judged took place: all of it, and its sustained part where it has one. */
export interface RunWindow extends Span {
  readonly sustained: Span | null
}

/** When a cohort was let go: into the first part, and into the sustained one. */
export interface CohortOpenings {
  readonly firstUs: number
  /** Null while nobody has come so far. */
  readonly sustainedUs: number | null
}

/** Between the opening of a window and T0 lies nothing but our own work: more than this is another window (§8). */
export const WINDOW_SLACK_US = 2_000_000

/** Null where no part was finished. `startedUs` are the T0 of the parts. */
export function windowOf(
  challenge: Challenge,
  parts: readonly PartEvidence[],
  startedUs: readonly number[],
): RunWindow | null {
  const spans = parts.map((part, p) => spanOf(part, startedUs[p]!))
  const sustained = spans.findIndex((_, p) => partRole(challenge, p) === 'sustained')
  if (spans.length === 0) return null
  return { fromUs: spans[0]!.fromUs, untilUs: spans.at(-1)!.untilUs, sustained: spans[sustained] ?? null }
}

function spanOf({ devices }: PartEvidence, fromUs: number): Span {
  return { fromUs, untilUs: fromUs + Math.max(0, ...devices.map(({ arrivalsUs }) => arrivalsUs.at(-1) ?? 0)) }
}

/**
 * §8: whether a run counts for its cohort. Its first part and its sustained part began when the cohort was let go into
 * them; a run begun anew did not. So the sustained parts of two runs that count overlap in all of the shorter but the slack.
 */
export function isInWindow(run: RunWindow, { firstUs, sustainedUs }: CohortOpenings): boolean {
  const began = ({ fromUs }: Span, openedUs: number | null) =>
    openedUs !== null && fromUs >= openedUs && fromUs - openedUs <= WINDOW_SLACK_US
  return began(run, firstUs) && (run.sustained === null || began(run.sustained, sustainedUs))
}
