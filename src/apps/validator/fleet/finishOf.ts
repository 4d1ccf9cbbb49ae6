import type { Tier } from '../../../core/attest/checkBundle.ts'
import { NOT_ATTESTED } from '../../../core/certificate/attestedRun.ts'
import { nextBoxState } from '../../../core/schedule/boxState.ts'
import { cardIds, changesOf, type HistoryNote } from '../../../core/schedule/changesOf.ts'
import type { PlannedJob } from '../../../core/schedule/planFleetRound.ts'
import { restAfter, retryDelay } from '../../../core/schedule/retryDelay.ts'
import { scoreInput } from '../../../core/schedule/scoreInput.ts'
import { type BoxScore, scoreBox } from '../../../core/score/scoreBox.ts'
import type { Finish, Store, TakenJob } from '../../../ports/store.ts'
import type { BoxReport } from '../verifyBox.ts'
import type { FleetRules } from './fleet.ts'
import { type Leftover, refusedAsBusy } from './outcomeOf.ts'

interface FinishContext {
  readonly store: Pick<Store, 'box' | 'boxesWithCards' | 'takeChips'>
  readonly rules: FleetRules
  /** Nobody else stands in its cohort. */
  readonly isAlone: boolean
  readonly stalled?: Leftover['stalled']
}

/**
 * So long a chip is kept for a box that holds a score, in a fleet without windows: two boxes would bring it in turns (attack
 * 142). Scores of a window end with the next one, and there a chip is nobody's from then on: a tenant would take it from its
 * owner, who stands in no window while it is rented (attack 398).
 */
const CHIP_ROUNDS = 8

const NOTHING: BoxScore = { score: 0, terms: [], zeroBecause: 'failed' }

/** What a result makes of its box and of the queue. `report` is null when the run ended in a fault. */
export async function finishOf(
  job: TakenJob,
  told: Leftover['told'],
  report: BoxReport | null,
  { store, rules, isAlone, stalled = false }: FinishContext,
): Promise<Finish> {
  const { kind, box, round, boxId } = job
  const { claimVerdict } = told
  // Whoever rents it may take the rest of a card at any moment (attack 432).
  const isTaken = await isTakenByTenant(job, told, store)
  const outcome = isTaken ? 'busy' : told.outcome
  const { chips, doubts, tier: attested } = report?.attested ?? NOT_ATTESTED
  // Outside a window it may have shown a card that another box is paid for.
  const apart = rules.cohortSize > 1 && job.window === null
  const isNoted = kind === 'full' && outcome === 'accepted' && !apart && doubts.length === 0
  const keptRounds = rules.cohortSize > 1 ? 0 : CHIP_ROUNDS
  const sharing = await store.takeChips({ round, keptRounds, boxId, chips, isNoted })
  const marks = report ? [...(await marksOf(job, report, store)), ...sharing.map((box) => sharedChip(box, job))] : []
  // One chip attests for one box in a round: who brings it second has shown its work alone (attack 129). So has whoever
  // leaves away what could speak against him: golden values, or answers about revocation (attack 132).
  const tier = sharing.length > 0 || doubts.length > 0 ? 'C' : (attested ?? 'C')
  const earned = report && kind === 'full' ? scoreOf(report, tier, rules) : NOTHING
  const score = report && earned.score
  const allocated = box.allocated || isTaken
  const next = nextBoxState(box, outcome, { kind, score, claimVerdict, allocated, apart }, rules.box)
  // A light look shows no haste in what matters, unless nothing else is asked of the box.
  const isPrompt = outcome === 'accepted' && (kind === 'full' || box.allocated)
  // Busy for a light look costs nothing, so it must not choose beside whom a box is measured (attack 125).
  const isFree = kind === 'light' && outcome === 'busy'
  const stalls = isPrompt ? 0 : box.stalls + Number(stalled && outcome !== 'fault' && !isFree)
  const restMs = stalls > box.stalls ? restAfter(stalls) : null
  return {
    // Without cohorts there is no window that others stand in.
    job: rules.cohortSize > 1 ? job : { ...job, window: null },
    owner: rules.owner,
    result: { ...told, outcome, marks },
    box: { ...next, terms: next.failed ? [] : earned.terms, stalls, restMs },
    // A second try would be a window of its own (attack 77).
    retryInMs: isAlone && !(isFree && stalled) ? retryDelay(outcome, job.tries, rules.retries) : null,
    followUps: followUps(job, marks),
  }
}

/**
 * A light look that found no room on a box that is rented, or was when the look began: a tenant may have come meanwhile
 * (attack 442). Asked for this alone; whoever marks rents changes nothing else about a look that is under way.
 */
async function isTakenByTenant(
  { kind, box, boxId }: TakenJob,
  told: Leftover['told'],
  store: Pick<Store, 'box'>,
): Promise<boolean> {
  if (kind !== 'light' || !(told.outcome === 'busy' || refusedAsBusy(told))) return false
  return box.allocated || ((await store.box(boxId))?.allocated ?? false)
}

function scoreOf({ judgement, inventory, host }: BoxReport, tier: Tier, { score }: FleetRules): BoxScore {
  // Whoever marks rents can end a score, and never raises one (§8.19).
  const stated = { registered: true, allocated: false }
  return scoreBox(scoreInput({ judgement, ...stated, claims: inventory.host, host, tier }), score)
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

/** A light look that finds another driver, card or count asks for the full proof at once, or when its rent is over. */
function followUps(job: TakenJob, marks: readonly HistoryNote[]): PlannedJob[] {
  const changed = marks.some(({ what }) => what !== 'shared card' && what !== 'shared chip')
  if (!changed || job.kind === 'full') return []
  const { boxId, round } = job
  return [{ boxId, round, kind: 'full', reason: 'changed', cohort: -1, delayMs: 0 }]
}
