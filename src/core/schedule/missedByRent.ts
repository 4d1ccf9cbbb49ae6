import type { FleetBox, PlannedJob } from './planFleetRound.ts'
import { drawBelow, type RandomWords, shuffled } from './randomWords.ts'

/** Most that is remembered of whom a box owes a window for a rent, where one cohort is no more than that. */
export const OWED_BY_RENT = 8

/** A rented box, and the boxes beside which it would have been measured. */
export interface MissedByRent {
  readonly boxId: string
  readonly mates: readonly string[]
}

/**
 * A rented box is asked for nothing heavy, but is drawn to a cohort all the same: with those it owes a window to when it is
 * free again. Two boxes on one card would be rented in turns otherwise, and never meet (attack 210). Where boxes that are
 * free owe it one, it is drawn to one of those: so both owe, and who is rented next escapes nobody.
 */
export function missedByRent(
  boxes: readonly FleetBox[],
  jobs: readonly PlannedJob[],
  cohortSize: number,
  words: RandomWords,
): MissedByRent[] {
  const cohorts = cohortSize === 1 ? [] : [...cohortsOf(boxes, jobs).values()]
  if (cohorts.length === 0) return []
  const debtors = new Map<string, string[][]>()
  for (const cohort of cohorts)
    for (const creditor of new Set(cohort.flatMap(({ owes }) => owes)))
      debtors.set(creditor, [...(debtors.get(creditor) ?? []), idsOf(cohort)])
  const all = cohorts.map(idsOf)
  return boxes
    .filter(({ allocated }) => allocated)
    .map(({ id }) => {
      const some = debtors.get(id) ?? all
      return { boxId: id, mates: shuffled(some[drawBelow(some.length, words)]!, words) }
    })
}

const idsOf = (cohort: readonly FleetBox[]): string[] => cohort.map(({ id }) => id)

/** Those that keep others waiting earn nothing where they stand, unless there are no others. */
function cohortsOf(boxes: readonly FleetBox[], jobs: readonly PlannedJob[]): Map<number, FleetBox[]> {
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const full = jobs.filter(({ kind, reason }) => kind === 'full' && reason === 'round')
  const prompt = full.filter(({ boxId }) => byId.get(boxId)!.stalls === 0)
  const cohorts = new Map<number, FleetBox[]>()
  for (const { boxId, cohort } of prompt.length > 0 ? prompt : full)
    cohorts.set(cohort, [...(cohorts.get(cohort) ?? []), byId.get(boxId)!])
  return cohorts
}
