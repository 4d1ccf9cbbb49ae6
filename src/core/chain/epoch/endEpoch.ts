import { combined, decayAndAdd, EIGHT_WEEKLY, quality, WEEKLY } from '../accounting.ts'
import { etaOf } from '../chainState.ts'
import { drawTasks } from '../drilling/drawTasks.ts'
import { endPhases } from '../drilling/endPhases.ts'
import { add } from '../ledger.ts'
import { nextEta } from '../lottery.ts'
import { type ChainParams, epochOf, WEEK } from '../params.ts'
import { addVoterSet, takeSnapshot } from '../snapshots.ts'
import { type AccountsView, StateType, type StateView, U64s, valuesOf } from '../stateType.ts'
import { chooseValidators } from '../validators.ts'
import { countProjectVotes } from './countProjectVotes.ts'
import { settleScores } from './settleScores.ts'
import { slashAgain } from './slashAgain.ts'

/** A state at the end of an epoch: what ends it needs no block and no cryptography. */
export interface EpochWork {
  readonly state: StateView
  readonly accounts: AccountsView
  readonly params: ChainParams
}

/**
 * §3.10, once for every epoch that a block leaves behind, before its transactions. Nothing here commits the state: views of
 * its parts that were handed out before would write to nowhere.
 */
export function endEpoch(work: EpochWork): void {
  const { state, params } = work
  const { epoch } = state
  const { tasks, needs } = endPhases(work)
  slashAgain(work)
  settlePower(work)
  settleScores(work)
  releaseLocked(work)
  matureUnlocks(work)
  const randomness = valuesOf(state.randomness)
  state.etas.set(Number((epoch + 2n) % 8n), nextEta(etaOf(state, epoch + 1n), epoch + 2n, randomness))
  state.randomness = StateType.fields.randomness.toViewDU([])
  state.snapshots.set(Number(epoch % 4n), takeSnapshot(state, epoch, params))
  countProjectVotes(work)
  addVoterSet(state, epoch + 1n, params)
  chooseValidators(state, epoch + 1n, params)
  work.accounts.used = U64s.toViewDU(new Array<bigint>(work.accounts.used.length).fill(0n))
  const drawn = drawTasks(work, epoch + 1n, needs)
  if (tasks.length + drawn.length + state.tasks.length > 0)
    state.tasks = StateType.fields.tasks.toViewDU([...tasks, ...drawn])
  state.epoch = epoch + 1n
}

/** §4: the rates of all accounts an epoch later. */
function settlePower({ accounts }: EpochWork): void {
  const now = { drilled: accounts.drilledNow, trained: accounts.trainedNow, failed: accounts.failedNow }
  const settled = accounts.settled.getAll()
  const rates = [accounts.drilled.getAll(), accounts.trained.getAll(), accounts.failed.getAll()] as const
  for (let i = 0; i < settled.length; i++) {
    const [drilled, trained, failed] = [rates[0][i]!, rates[1][i]!, rates[2][i]!]
    const work = { drilled: now.drilled.get(i), trained: now.trained.get(i), failed: now.failed.get(i) }
    const x = combined(work.drilled, work.trained, quality(drilled, failed))
    // What a task or an order settled was added to its rate when it settled: only failures are added here.
    setIfNew(accounts.drilled, i, drilled, decayAndAdd(drilled, 0n, WEEKLY))
    setIfNew(accounts.trained, i, trained, decayAndAdd(trained, 0n, WEEKLY))
    setIfNew(accounts.failed, i, failed, decayAndAdd(failed, work.failed, WEEKLY))
    setIfNew(accounts.settled, i, settled[i]!, decayAndAdd(settled[i]!, x, EIGHT_WEEKLY))
    setIfNew(now.drilled, i, work.drilled, 0n)
    setIfNew(now.trained, i, work.trained, 0n)
    setIfNew(now.failed, i, work.failed, 0n)
  }
}

function setIfNew(column: AccountsView['drilled'], place: number, before: bigint, after: bigint): void {
  if (before !== after) column.set(place, after)
}

/** A 168th of what is locked, rounded up, so that it ends. */
function releaseLocked(work: EpochWork): void {
  for (const [place, locked] of work.accounts.locked.getAll().entries()) {
    if (locked === 0n) continue
    const released = (locked + WEEK - 1n) / WEEK
    work.accounts.locked.set(place, locked - released)
    add(work, 'balance', place, released)
  }
}

/** Unlocks whose epoch has become final long enough ago; in a stall none does. */
function matureUnlocks(work: EpochWork): void {
  const { state, params } = work
  const unlocks = valuesOf(state.unlocks)
  if (unlocks.length === 0) return
  const finalEpoch = epochOf(state.final.slot, params)
  const isMature = ({ epoch }: { epoch: bigint }) => finalEpoch >= epoch + params.unlockEpochs
  const isOver = (unlock: (typeof unlocks)[number]) => isMature(unlock) || unlock.amount === 0n
  const { unlocking } = work.accounts
  for (const unlock of unlocks.filter(isOver)) {
    add(work, 'balance', unlock.account, unlock.amount)
    unlocking.set(unlock.account, unlocking.get(unlock.account) - 1)
  }
  const left = unlocks.filter((unlock) => !isOver(unlock))
  if (left.length < unlocks.length) state.unlocks = StateType.fields.unlocks.toViewDU(left)
}
