import type { JobKind, JobReason } from './boxState.ts'
import { drawBelow, type RandomWords, shuffled } from './randomWords.ts'

/** What planning a round needs to know of a box. */
export interface FleetBox {
  readonly id: string
  readonly allocated: boolean
  readonly score: number
  /** Boxes it was to run together with, and did not. */
  readonly owes: readonly string[]
  /** How often in a row it has kept us waiting for nothing. */
  readonly stalls: number
  /** It has done so lately, and is left alone for a while. */
  readonly rests: boolean
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

/** Full proofs in random cohorts with one random start each; allocated boxes get a light one each, alone. */
export function planFleetRound(inputs: RoundInputs): PlannedJob[] {
  const { round, boxes, maxDelayMs, cohortSize, probeUntilMs, words } = inputs
  const awake = boxes.filter(({ rests }) => !rests)
  const isRented = ({ allocated }: FleetBox) => allocated
  const free = shuffled(
    awake.filter((box) => !isRented(box)),
    words,
  )
  // Who keeps others waiting waits with its like (attack 79).
  const isPrompt = ({ stalls }: FleetBox) => stalls === 0
  const cohorts = [free.filter(isPrompt), free.filter((box) => !isPrompt(box))].flatMap((some) =>
    cohortsOf(some, cohortSize),
  )
  let cohort = 0
  const jobs = (boxIds: readonly string[], kind: JobKind, reason: JobReason, delayMs: number) => {
    const place = { round, kind, reason, cohort: cohort++, delayMs }
    return boxIds.map((boxId) => ({ boxId, ...place }))
  }
  const start = () => drawBelow(maxDelayMs + 1, words)
  const between = probeUntilMs - maxDelayMs
  return [
    ...cohorts.flatMap((members) => jobs(members, 'full', 'round', start())),
    ...awake.filter(isRented).flatMap(({ id }) => jobs([id], 'light', 'round', start())),
    ...(between > 0 ? awake : []).flatMap(({ id }) =>
      jobs([id], 'light', 'probe', maxDelayMs + drawBelow(between, words)),
    ),
  ]
}

/**
 * As few cohorts as the size allows, filled evenly, so that nobody is alone where others are. Who missed its window is put
 * with the boxes it missed first: it cannot choose whom to be measured beside by missing until they are others (attack 77).
 */
function cohortsOf(boxes: readonly FleetBox[], cohortSize: number): string[][] {
  const left = new Set(boxes.map(({ id }) => id))
  const cohorts: string[][] = []
  for (const { id, owes } of boxes) {
    const mates = left.has(id) ? owes.filter((mate) => mate !== id && left.has(mate)) : []
    if (mates.length === 0) continue
    // One place less than there are: or a single box could be left over for a cohort of its own.
    const members = [id, ...mates].slice(0, cohortSize > 2 ? cohortSize - 1 : cohortSize)
    for (const member of members) left.delete(member)
    cohorts.push(members)
  }
  while (cohorts.length < Math.ceil(boxes.length / cohortSize)) cohorts.push([])
  for (const id of left) cohorts.reduce((least, other) => (other.length < least.length ? other : least)).push(id)
  return cohorts
}
