import type { Tier } from '../../../core/attest/checkBundle.ts'
import { nextBoxState } from '../../../core/schedule/boxState.ts'
import { cardIds, changesOf, type HistoryNote } from '../../../core/schedule/changesOf.ts'
import { LARGEST_COHORT } from '../../../core/schedule/largestCohort.ts'
import type { PlannedJob } from '../../../core/schedule/planFleetRound.ts'
import { restAfter, retryDelay } from '../../../core/schedule/retryDelay.ts'
import { scoreInput } from '../../../core/schedule/scoreInput.ts'
import { cardPoints } from '../../../core/schedule/shownBeside.ts'
import { type BoxScore, type ScoreTerm, scoreBox } from '../../../core/score/scoreBox.ts'
import type { Finish, Store, TakenJob } from '../../../ports/store.ts'
import type { BoxReport } from '../verifyBox.ts'
import type { FleetRules } from './fleet.ts'
import type { Leftover } from './outcomeOf.ts'

interface FinishContext {
  readonly store: Pick<Store, 'boxesWithCards' | 'fleet' | 'takeChips'>
  readonly rules: FleetRules
  /** The other boxes of its cohort, those that were in the same window, and those of them whose runs count there. */
  readonly cohort: Record<'mates' | 'together', readonly string[]> & { counted(): Promise<readonly string[]> }
  readonly stalled?: Leftover['stalled']
}

const NOTHING: BoxScore = { score: 0, terms: [], zeroBecause: 'failed' }

/** What a result makes of its box and of the queue. `report` is null when the run ended in a fault. */
export async function finishOf(
  job: TakenJob,
  told: Leftover['told'],
  report: BoxReport | null,
  { store, rules, cohort, stalled = false }: FinishContext,
): Promise<Finish> {
  const sharing = report ? await store.takeChips({ ...job, chips: report.attested.chips }) : []
  const marks = report ? [...(await marksOf(job, report, store)), ...sharing.map((box) => sharedChip(box, job))] : []
  // One chip attests for one box in a round: who brings it second has shown its work alone (attack 129). So has whoever
  // leaves away what could speak against him: golden values, or answers about revocation (attack 132).
  const isDoubtful = sharing.length > 0 || (report?.attested.doubts ?? []).length > 0
  const tier = isDoubtful ? 'C' : (report?.attested.tier ?? 'C')
  const earned = report && job.kind === 'full' ? scoreOf(job, report, tier, rules) : NOTHING
  const { kind, box } = job
  const { outcome, claimVerdict } = told
  const apart = outcome === 'accepted' && (await isApart(job, cohort.together, rules, store))
  const shown = report && kind === 'full' ? cardPoints(earned.terms) : null
  // Only who owes a window, or shows more than last time beside one of them, has to know whether the others' runs count.
  const rises = shown !== null && cohort.together.some((id) => (box.beside[id] ?? shown) < shown)
  const together = rises || box.owes.length > 0 ? await cohort.counted() : cohort.together
  // What showed nothing lowers nothing.
  const score = report ? earned.score : box.score
  // Two that were each away while the other earned meet before either earns again (attack 210).
  const mates = [...cohort.mates, ...job.away]
  const window = { mates, together, ran: cohort.together, standing: job.standing, apart }
  const gained = { kind, score, shown, claimVerdict, allocated: box.allocated, ...window }
  const next = nextBoxState({ ...box, owes: job.owed }, outcome, gained, rules.box)
  // A light look shows no haste in what matters, unless nothing else is asked of the box.
  const isPrompt = outcome === 'accepted' && (kind === 'full' || box.allocated)
  // Busy for a light look costs nothing, so it must not choose beside whom a box is measured (attack 125).
  const isFree = kind === 'light' && outcome === 'busy' && !box.allocated
  const stalls = isPrompt ? 0 : box.stalls + Number(stalled && outcome !== 'fault' && !isFree)
  // Who has no score now may earn one while this box is rented: what is owed to it counts again then (attack 210).
  const met = outcome === 'accepted' ? together : []
  const awake = new Set([...job.owed, ...next.owes, ...met])
  const still = new Set([...next.owes, ...box.owes.filter((id) => !awake.has(id))])
  const isMiss = next.missed > box.missed
  const owes = isMiss ? [...still].slice(0, LARGEST_COHORT) : box.owes.filter((id) => still.has(id))
  const restMs = stalls > box.stalls ? restAfter(stalls) : null
  return {
    job,
    owner: rules.owner,
    result: { ...told, marks },
    box: { ...next, owes, terms: next.failed ? [] : paidTerms(earned, next.score), stalls, restMs },
    retryInMs: isFree && stalled ? null : retryDelay(outcome, job.tries, next, rules.retries),
    retryAlone: kind === 'light' || cohort.mates.length === 0,
    followUps: followUps(job, marks),
  }
}

/** Where less is paid than was shown, the terms say how much less: they add up to the score. */
function paidTerms({ score, terms }: BoxScore, paid: number): readonly ScoreTerm[] {
  const less = { name: 'beside', points: paid - score, got: paid, full: score }
  return paid < score ? [...terms, less] : terms
}

/**
 * Whether a full proof ran with nobody beside it, or among those that keep others waiting, while another box holds a score
 * that it may earn with the same card. A fleet of one, or one without cohorts, has nobody to stand beside.
 */
async function isApart(
  { kind, boxId, box }: TakenJob,
  together: readonly string[],
  { cohortSize }: FleetRules,
  store: Pick<Store, 'fleet'>,
): Promise<boolean> {
  if (kind === 'light' || cohortSize === 1 || (together.length > 0 && box.stalls === 0)) return false
  return (await store.fleet()).some(({ id, allocated, score }) => id !== boxId && !allocated && score > 0)
}

function scoreOf(
  { box }: TakenJob,
  { judgement, inventory, host }: BoxReport,
  tier: Tier,
  { score }: FleetRules,
): BoxScore {
  const { allocated } = box
  return scoreBox(scoreInput({ judgement, registered: true, allocated, claims: inventory.host, host, tier }), score)
}

const sharedChip = (box: string, { boxId }: TakenJob): HistoryNote => ({
  what: 'shared chip',
  before: box,
  after: boxId,
})

async function marksOf(job: TakenJob, { inventory, faults }: BoxReport, store: Pick<Store, 'boxesWithCards'>) {
  const sharing = await store.boxesWithCards(cardIds(inventory), job.boxId)
  const shared: HistoryNote[] = sharing.map((box) => ({ what: 'shared card', before: box, after: job.boxId }))
  // A run begun anew is another draw of its rates, and a device that is not there can be lost too (attack 64).
  const left = `${inventory.devices.length} left`
  const lost: HistoryNote[] = faults.map(({ code }) => ({ what: 'lost device', before: code, after: left }))
  return [...changesOf(job.box.inventory, inventory), ...lost, ...shared]
}

/** A light look that finds another driver, card or count asks for the full proof at once; a rented box keeps its peace. */
function followUps(job: TakenJob, marks: readonly HistoryNote[]): PlannedJob[] {
  const changed = marks.some(({ what }) => what !== 'shared card' && what !== 'shared chip')
  if (!changed || job.kind === 'full' || job.box.allocated) return []
  const { boxId, round } = job
  return [{ boxId, round, kind: 'full', reason: 'changed', cohort: -1, delayMs: 0 }]
}
