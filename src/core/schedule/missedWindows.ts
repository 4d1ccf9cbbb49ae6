import type { FleetBox, PlannedJob } from './planFleetRound.ts'
import { drawBelow, type RandomWords, shuffled } from './randomWords.ts'
import { owedByFall } from './shownBeside.ts'

/** Most that is remembered of whom a box owes a window for being away, where one cohort is no more than that. */
export const OWED_BY_AWAY = 8

/** A box that owes a window from the opening of a round on, and to whom. */
export interface MissedWindow {
  readonly boxId: string
  readonly mates: readonly string[]
  /** It does not stand in this round; otherwise it stands in one for the first time, and has missed those before. */
  readonly away: boolean
}

/**
 * Who does not stand in a cohort that earns, because it is rented, rests or keeps others waiting, is drawn to one all the
 * same: with those it owes a window to. Two boxes on one card would be away in turns otherwise, and never meet (attacks 210,
 * 220). Where boxes that are there owe it one, it is drawn to one of those: so both owe, and who is away next escapes
 * nobody. Who joins owes its first cohort, and who is away from that: or a box would come under a new name each time
 * (attack 219).
 */
export function missedWindows(
  boxes: readonly FleetBox[],
  jobs: readonly PlannedJob[],
  cohortSize: number,
  words: RandomWords,
): MissedWindow[] {
  const cohorts = cohortSize === 1 ? [] : [...cohortsOf(boxes, jobs).values()]
  if (cohorts.length === 0) return []
  const standing = new Set(cohorts.flat())
  const owedIn = cohorts.map(
    (cohort) => new Set(cohort.flatMap(({ owes, beside }) => [...owes, ...owedByFall(beside)])),
  )
  const drawn = boxes
    .filter((box) => !standing.has(box))
    .map((box) => {
      const debtors = cohorts.filter((_, i) => owedIn[i]!.has(box.id))
      const some = debtors.length > 0 ? debtors : cohorts
      return { box, cohort: some[drawBelow(some.length, words)]! }
    })
  const away = drawn.map(({ box, cohort }) => {
    return {
      boxId: box.id,
      mates: shuffled(
        cohort.map(({ id }) => id),
        words,
      ),
      away: true,
    }
  })
  const joining = cohorts.flatMap((cohort) => {
    const beside = [...cohort, ...drawn.filter((one) => one.cohort === cohort).map(({ box }) => box)]
    const holders = beside.filter(({ score }) => score > 0).map(({ id }) => id)
    return cohort
      .filter(({ joins }) => joins)
      .map(({ id: boxId }) => ({ boxId, mates: holders.filter((id) => id !== boxId), away: false }))
  })
  return [...away, ...joining]
}

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
