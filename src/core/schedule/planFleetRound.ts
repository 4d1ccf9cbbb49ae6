import type { JobKind, JobReason } from './boxState.ts'
import { drawBelow, type RandomWords, shuffled } from './randomWords.ts'

/** What planning a round needs to know of a box. */
export interface FleetBox {
  readonly id: string
  readonly allocated: boolean
  /** Points that it earned last, whether they count or not; 0 where it has failed since. */
  readonly score: number
  /** How often in a row it has kept us waiting for nothing. */
  readonly stalls: number
  /** It has done so lately, and is left alone for a while. */
  readonly rests: boolean
  /** The last round in whose window it had a place. */
  readonly stood: number | null
}

export interface PlannedJob {
  readonly boxId: string
  readonly round: number
  readonly kind: JobKind
  readonly reason: JobReason
  /** Boxes of one cohort are opened in the same window (§8): a card lent to two of them shows half its speed. */
  readonly cohort: number
  readonly delayMs: number
}

export interface RoundInputs {
  readonly round: number
  readonly boxes: readonly FleetBox[]
  /** Every box starts within this span; which moment is random, so that nobody can be ready for it. */
  readonly maxDelayMs: number
  readonly cohortSize: number
  /** Until when one light look per box, at a random moment, may notice a changed driver, card or count; 0 leaves it out. */
  readonly probeUntilMs: number
  readonly words: RandomWords
}

/**
 * Full proofs of all boxes in one window, at a random moment: what two of them earned in two windows may have been one card.
 * Who keeps others waiting waits with its like (attack 79); allocated boxes get a light proof each, alone.
 */
export function planFleetRound(inputs: RoundInputs): PlannedJob[] {
  const { round, boxes, maxDelayMs, cohortSize, probeUntilMs, words } = inputs
  const awake = boxes.filter(({ rests }) => !rests)
  const free = awake.filter(({ allocated }) => !allocated)
  const prompt = free.filter(({ stalls }) => stalls === 0)
  const slow = shuffled(
    free.filter(({ stalls }) => stalls > 0),
    words,
  )
  const windows = cohortSize === 1 ? inGroups(prompt, 1) : [placesFor(prompt, cohortSize, words)]
  let cohort = WINDOW_COHORT
  const jobs = (members: readonly FleetBox[], kind: JobKind, reason: JobReason, delayMs: number) => {
    const place = { round, kind, reason, cohort: cohort++, delayMs }
    return members.map(({ id: boxId }) => ({ boxId, ...place }))
  }
  const start = () => drawBelow(maxDelayMs + 1, words)
  const between = probeUntilMs - maxDelayMs
  return [
    ...[...windows, ...inGroups(slow, cohortSize)].flatMap((members) => jobs(members, 'full', 'round', start())),
    ...awake.filter(({ allocated }) => allocated).flatMap((box) => jobs([box], 'light', 'round', start())),
    ...(between > 0 ? awake : []).flatMap((box) =>
      jobs([box], 'light', 'probe', maxDelayMs + drawBelow(between, words)),
    ),
  ]
}

/** All whose scores count were taken for this cohort of one round, at once. */
export const WINDOW_COHORT = 0

/** Of the places of a window, where there are more boxes than places: so many stay with those that earned most. */
const KEPT_PLACES = 3 / 4

/** The others take turns: nobody is kept out for good, neither by those that came first nor by those that come in great numbers. */
function placesFor(boxes: readonly FleetBox[], places: number, words: RandomWords): readonly FleetBox[] {
  if (boxes.length <= places) return boxes
  const byPoints = shuffled(boxes, words).sort((one, other) => other.score - one.score)
  const holders = byPoints.filter(({ score }) => score > 0).slice(0, Math.floor(KEPT_PLACES * places))
  const others = byPoints.filter((box) => !holders.includes(box))
  others.sort((one, other) => (one.stood ?? 0) - (other.stood ?? 0))
  return [...holders, ...others].slice(0, places)
}

function inGroups(boxes: readonly FleetBox[], size: number): FleetBox[][] {
  return Array.from({ length: Math.ceil(boxes.length / size) }, (_, i) => boxes.slice(i * size, (i + 1) * size))
}
