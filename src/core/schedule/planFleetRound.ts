import type { JobKind, JobReason } from './boxState.ts'
import { drawBelow, type RandomWords, shuffled } from './randomWords.ts'
import { owedByFall, type ShownBeside } from './shownBeside.ts'

/** What planning a round needs to know of a box. */
export interface FleetBox {
  readonly id: string
  readonly allocated: boolean
  readonly score: number
  /** Boxes it was to run together with, and did not. */
  readonly owes: readonly string[]
  readonly beside: ShownBeside
  /** How often in a row it has kept us waiting for nothing. */
  readonly stalls: number
  /** It has done so lately, and is left alone for a while. */
  readonly rests: boolean
  /** It has joined the fleet, or moved, and has not stood in a cohort since. */
  readonly joins: boolean
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
    cohortsOf(some, cohortSize, words),
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
 * As few cohorts as the size allows, so that nobody is alone where others are. Who missed its window is put with boxes that
 * it missed: it cannot choose whom to be measured beside by missing until they are others (attack 77).
 */
function cohortsOf(boxes: readonly FleetBox[], cohortSize: number, words: RandomWords): string[][] {
  const most = Math.min(cohortSize, Math.max(2, Math.floor(cohortSize / 2)))
  const groups = groupsOf(boxes, most, words)
  const cohorts: string[][] = Array.from({ length: Math.ceil(boxes.length / cohortSize) }, () => [])
  for (const group of groups.filter(({ length }) => length > 1)) {
    const roomy = cohorts.filter(({ length }) => length + group.length <= cohortSize)
    if (roomy.length === 0) cohorts.push([...group])
    else roomy[drawBelow(roomy.length, words)]!.push(...group)
  }
  for (const [id] of groups.filter(({ length }) => length === 1)) fewest(cohorts).push(id!)
  const filled = cohorts.filter(({ length }) => length > 0)
  const alone = filled.find(({ length }) => length === 1)
  const largest = filled.reduce((large, other) => (other.length > large.length ? other : large), [''])
  if (alone && largest.length > 2) alone.push(largest.pop()!)
  return filled
}

const fewest = (cohorts: readonly string[][]): string[] =>
  cohorts.reduce((least, other) => (other.length < least.length ? other : least))

/**
 * Who owes and whom, at most half a cohort together, and beside whom a group stands is chance: a box that misses all the
 * time would otherwise keep whom it owes away from all others (attack 165).
 */
function groupsOf(boxes: readonly FleetBox[], most: number, words: RandomWords): string[][] {
  const groupOf = new Map(boxes.map(({ id }) => [id, [id]]))
  for (const { id, owes, beside } of boxes)
    for (const mate of [...shuffled(owes, words), ...shuffled(owedByFall(beside), words)]) {
      const [own, other] = [groupOf.get(id)!, groupOf.get(mate)]
      if (!other || other === own || own.length + other.length > most) continue
      own.push(...other)
      for (const member of other) groupOf.set(member, own)
    }
  return shuffled([...new Set(groupOf.values())], words)
}
