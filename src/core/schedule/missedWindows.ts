import type { FleetBox, PlannedJob } from './planFleetRound.ts'
import { drawBelow, type RandomWords, shuffled } from './randomWords.ts'
import { owedByFall } from './shownBeside.ts'

/**
 * To so many boxes of one cohort a box owes a window for being away. If it were the whole fleet, all that are rented and all
 * that come back would owe one another, and nobody would earn.
 */
export const OWED_BY_AWAY = 8

/** A box that owes a window from the opening of a round on, and to whom. */
export interface MissedWindow {
  readonly boxId: string
  readonly mates: readonly string[]
  /** Most of one cohort: so much of what it owes for each window that it missed stays (attack 228). */
  readonly cohortSize: number
  /** It does not stand in this round; otherwise it stands in one for the first time, and has missed those before. */
  readonly away: boolean
  /** Until it has run beside them it earns nothing while they hold scores, unless it has done so before (attack 239). */
  readonly strangers: readonly string[]
}

/**
 * Who does not stand in a cohort that earns, because it is rented, rests or keeps others waiting, is drawn to one all the
 * same: some of that it owes a window. Two boxes on one card would be away in turns otherwise, and never meet (attacks 210,
 * 220). Where boxes that are there owe it one, it is drawn to one of those: so both owe, and who is away next escapes
 * nobody. Who joins owes its first cohort, and who is away from that: or a box would come under a new name each time
 * (attack 219). It is a stranger to all of them, and they to it: who is away for long forgets whom it owes for that, and
 * boxes on one card would be away in turns without ever having met (attack 239).
 */
export function missedWindows(
  boxes: readonly FleetBox[],
  jobs: readonly PlannedJob[],
  cohortSize: number,
  words: RandomWords,
): MissedWindow[] {
  const cohorts = cohortSize === 1 ? [] : [...cohortsOf(boxes, jobs).values()]
  if (cohorts.length === 0) return []
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const cohortOf = new Map(cohorts.flatMap((cohort) => cohort.map((box) => [box.id, cohort] as const)))
  const debtors = debtorsOf(cohorts.flat())
  const joins = [...cohortOf.keys()].filter((id) => byId.get(id)!.joins)
  const away = boxes
    .filter(({ id }) => !cohortOf.has(id))
    .map(({ id: boxId }) => {
      const [debtor] = shuffled(debtors.get(boxId) ?? [], words)
      const cohort = debtor ? cohortOf.get(debtor)! : cohorts[drawBelow(cohorts.length, words)]!
      const ids = cohort.map(({ id }) => id)
      return { boxId, mates: sampleOf(ids, debtor, words), cohortSize, away: true, strangers: joins }
    })
  const joining = joins.map((boxId) => {
    const cohort = cohortOf.get(boxId)!.filter(({ id }) => id !== boxId)
    const drawn = away.filter(({ mates }) => mates.includes(boxId)).map((one) => byId.get(one.boxId)!)
    const mates = [...cohort, ...drawn].filter(({ score }) => score > 0).map(({ id }) => id)
    const strangers = [...cohort.map(({ id }) => id), ...away.map((one) => one.boxId)]
    return { boxId, mates, cohortSize, away: false, strangers }
  })
  return [...away, ...joining]
}

/** Of a cohort as many as are owed for being away; one that owes a window itself is always among them. */
export function sampleOf(cohort: readonly string[], debtor: string | undefined, words: RandomWords): string[] {
  const others = cohort.filter((id) => id !== debtor)
  return [...(debtor ? [debtor] : []), ...shuffled(others, words)].slice(0, OWED_BY_AWAY)
}

/** By box: who owes it a window. */
function debtorsOf(standing: readonly FleetBox[]): Map<string, string[]> {
  const debtors = new Map<string, string[]>()
  for (const { id, owes, beside } of standing)
    for (const owed of new Set([...owes, ...owedByFall(beside)])) {
      const others = debtors.get(owed)
      if (others) others.push(id)
      else debtors.set(owed, [id])
    }
  return debtors
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
