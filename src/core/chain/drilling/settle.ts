import { decayAndAdd, WEEKLY } from '../accounting.ts'
import type { EpochWork } from '../epoch/endEpoch.ts'
import { atStake, burn, NOBODY, slash, take } from '../ledger.ts'
import { WEEK } from '../params.ts'
import { MARK, type Replica, type Task } from './task.ts'

const FULL_LIVE = 65_535n

/** Work that counts: its live share, and nothing where less than half is live. */
export function creditedWork({ work, live }: Pick<Replica, 'work' | 'live'>): bigint {
  return 2 * live < Number(FULL_LIVE) ? 0n : (work * BigInt(live)) / FULL_LIVE
}

/** What work has become by the start of an epoch's end, counted from the epoch of its commitment (§4.2). */
export function pendingRate(work: bigint, committed: bigint, epoch: bigint): bigint {
  let rate = decayAndAdd(0n, work, WEEKLY)
  for (let at = committed + 1n; at < epoch; at++) rate = decayAndAdd(rate, 0n, WEEKLY)
  return rate
}

export function settleValid({ state, accounts }: EpochWork, replica: Replica): void {
  const { account } = replica
  const credit = creditedWork(replica)
  const grow = (column: 'drilled' | 'drilledTotal' | 'drilledNow', amount: bigint) =>
    accounts[column].set(account, accounts[column].get(account) + amount)
  grow('drilled', pendingRate(credit, replica.committed, state.epoch))
  grow('drilledTotal', credit)
  grow('drilledNow', credit)
  accounts.streak.set(account, accounts.streak.get(account) + 1n)
  replica.mark = MARK.valid
}

/** Late, or of another opinion than the class that was right: no credit, worse quality, a tenth of the deposit. */
export function markFailed(work: EpochWork, task: Task, replica: Replica, mark: number): void {
  const { account } = replica
  fail(work, task, account)
  // Who asks for it back after the draw still answers with it.
  burn(work, take(work, account, ['deposit'], atStake(work, account, ['deposit']) / 10n))
  replica.mark = mark
}

/** Shown to be wrong: the whole deposit, all power from drilling, and a week out. */
export function markFraud(work: EpochWork, task: Task, replica: Replica, reporter = NOBODY): void {
  const { accounts, state } = work
  const { account } = replica
  fail(work, task, account)
  slash(work, account, ['deposit'], 1n << 64n, reporter)
  accounts.drilled.set(account, 0n)
  accounts.ready.set(account, 0)
  accounts.drillsFrom.set(account, state.epoch + WEEK)
  replica.mark = MARK.fraud
}

function fail({ accounts }: EpochWork, task: Task, account: number): void {
  accounts.failedNow.set(account, accounts.failedNow.get(account) + task.work)
  accounts.streak.set(account, 0n)
}

/** No credit for anybody, and nobody to blame. */
export function voidAll({ accounts }: EpochWork, replicas: readonly Replica[]): void {
  for (const { account } of replicas) accounts.streak.set(account, 0n)
}
