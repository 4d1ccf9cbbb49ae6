import type { Working } from './chainState.ts'
import type { ChainParams } from './params.ts'
import { balanceOf, setBalance } from './purse.ts'
import { type AccountsView, type StateView, valuesOf } from './stateType.ts'

/** What an account can lock away, by the number that transactions use. */
export const PURPOSES = ['bond', 'stake', 'deposit', 'projectBond'] as const
export type Purpose = (typeof PURPOSES)[number]

type Column = Purpose | 'balance' | 'locked'
type Money = Pick<Working, 'accounts' | 'state' | 'params'>

const heldIn = (accounts: AccountsView, column: Column, place: number): bigint =>
  column === 'balance' ? balanceOf(accounts, place) : accounts[column].get(place)

function hold(accounts: AccountsView, column: Column, place: number, amount: bigint): void {
  if (column === 'balance') setBalance(accounts, place, amount)
  else accounts[column].set(place, amount)
}

/** Amounts only move between columns: the supply bounds them all, and it fits u64. */
export function add({ accounts }: Money, column: Column, place: number, amount: bigint): void {
  if (amount !== 0n) hold(accounts, column, place, heldIn(accounts, column, place) + amount)
}

/** The caller has checked that it is there. */
export function subtract({ accounts }: Money, column: Column, place: number, amount: bigint): void {
  if (amount === 0n) return
  const left = heldIn(accounts, column, place) - amount
  if (left < 0n) throw new RangeError(`${column} of account ${place} would fall below 0`)
  hold(accounts, column, place, left)
}

export function burn({ state }: Money, amount: bigint): void {
  state.supply -= amount
}

/** New units for an account: half of them fill its bond up to what a voter needs, the rest is released over a week. */
export function reward(money: Money, place: number, amount: bigint): void {
  if (amount === 0n) return
  money.state.supply += amount
  const missing = money.params.bond - money.accounts.bond.get(place)
  const half = amount / 2n
  const toBond = missing <= 0n ? 0n : half < missing ? half : missing
  add(money, 'bond', place, toBond)
  add(money, 'locked', place, amount - toBond)
}

/** Units that may be issued in an epoch. */
export function issuanceOf(epoch: bigint, { issuance, yearEpochs, issuanceYears }: ChainParams): bigint {
  const year = epoch / yearEpochs
  return year >= issuanceYears ? 0n : (issuance * 9n ** year) / 10n ** year
}

type Share = 'blockShare' | 'voteShare' | 'scoreShare' | 'validatorShare'

export const partOf = (share: Share, epoch: bigint, params: ChainParams): bigint =>
  (issuanceOf(epoch, params) * params[share]) / 100n

/** What an account can lose for a purpose: held, and on its way out. */
export function atStake(money: Money, place: number, columns: readonly Column[]): bigint {
  const held = columns.reduce((sum, column) => sum + heldIn(money.accounts, column, place), 0n)
  return held + leaving(money, place, columns).reduce((sum, { amount }) => sum + amount, 0n)
}

/**
 * Takes up to an amount from the columns in their order, then from what is being unlocked of them: who asks for its bond
 * back still answers with it. Returns what was there.
 */
export function take(money: Money, place: number, columns: readonly Column[], amount: bigint): bigint {
  let left = amount
  for (const column of columns) {
    const held = heldIn(money.accounts, column, place)
    const taken = held < left ? held : left
    subtract(money, column, place, taken)
    left -= taken
  }
  if (left === 0n) return amount
  for (const { index, amount: held } of leaving(money, place, columns)) {
    const taken = held < left ? held : left
    money.state.unlocks.get(index).amount = held - taken
    left -= taken
  }
  return amount - left
}

function leaving({ state, accounts }: Money, place: number, columns: readonly Column[]) {
  const found: { index: number; amount: bigint }[] = []
  // The list is long, and most accounts are not in it.
  if (accounts.unlocking.get(place) === 0) return found
  for (const [index, { account, purpose, amount }] of valuesOf(state.unlocks).entries())
    if (account === place && columns.includes(PURPOSES[purpose]!)) found.push({ index, amount })
  return found
}

/** A tenth to who reported it, the rest is gone. */
export function slash(money: Money, place: number, columns: readonly Column[], amount: bigint, reporter: number): void {
  const taken = take(money, place, columns, amount)
  const bounty = reporter === NOBODY ? 0n : taken / 10n
  if (bounty > 0n) add(money, 'balance', reporter, bounty)
  burn(money, taken - bounty)
}

/** No account has this place. */
export const NOBODY = 0xffffffff

/** All units that anybody holds: they are the supply, to the last one. */
export function unitsHeld({ accounts, unlocks }: StateView): bigint {
  let sum = 0n
  for (const [at, amount] of accounts.purse.getAll().entries()) if (at % 2 === 1) sum += amount
  for (const column of [...PURPOSES, 'locked'] as const) for (const amount of accounts[column].getAll()) sum += amount
  for (const { amount } of valuesOf(unlocks)) sum += amount
  return sum
}
