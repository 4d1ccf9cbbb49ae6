import type { AccountsView } from './stateType.ts'

/** Where the balance of an account stands in the column of purses; its nonce stands before it. */
export const balanceAt = (place: number): number => 2 * place + 1
export const nonceAt = (place: number): number => 2 * place

export const nonceOf = ({ purse }: AccountsView, place: number): bigint => purse.get(nonceAt(place))
export const balanceOf = ({ purse }: AccountsView, place: number): bigint => purse.get(balanceAt(place))

export const setNonce = ({ purse }: AccountsView, place: number, nonce: bigint): void =>
  purse.set(nonceAt(place), nonce)
export const setBalance = ({ purse }: AccountsView, place: number, balance: bigint): void =>
  purse.set(balanceAt(place), balance)
