import type { CheckSignature } from '../bytes/ed25519.ts'
import type { CheckLive, CheckPatch, CheckTerms } from './drilling/patch.ts'
import type { Vrf } from './ecvrf.ts'
import type { KeyPlaces } from './keyPlaces.ts'
import type { ChainParams } from './params.ts'
import { epochOf } from './params.ts'
import type { Problem } from './problems.ts'
import { AccountsType, type AccountsView, MAX_ACCOUNTS, type StateView } from './stateType.ts'

/** What the rules ask of cryptography and of the arithmetic of tasks; a simulator hands in stand-ins. */
export interface Checks {
  readonly signature: CheckSignature
  /** The caller has checked the signatures of the header and of all transactions itself, such as on other threads. */
  readonly envelopesChecked?: boolean
  readonly vrf: Vrf['verify']
  /** Whether an account may have this key. */
  readonly key: (publicKey: Uint8Array) => boolean
  readonly patch: CheckPatch
  readonly terms: CheckTerms
  readonly live: CheckLive
}

/** A branch of the chain after one of its blocks. Nothing changes a state: blocks make new ones. */
export interface ChainState {
  readonly params: ChainParams
  readonly genesisHash: Uint8Array
  /** The hash of the block that made it; the genesis hash at the start. */
  readonly head: Uint8Array
  readonly view: StateView
  readonly places: KeyPlaces
  readonly boxPlaces: KeyPlaces
}

/** A state in the making: a copy that the transactions of one block write to. */
export interface Working {
  readonly params: ChainParams
  readonly genesisHash: Uint8Array
  readonly state: StateView
  readonly accounts: AccountsView
  readonly places: KeyPlaces
  readonly boxPlaces: KeyPlaces
  readonly checks: Checks
  /** Of the block. */
  readonly slot: bigint
}

/** A reason to refuse, or null. */
export type Refusal = Problem | null

type Located = Pick<Working, 'accounts' | 'places'>

/** The place of an account, or -1. */
export const findAccount = ({ accounts, places }: Located, key: Uint8Array): number =>
  places.find(key, accounts.key.length, (place) => accounts.key.get(place))

/** The place of a box, removed or not, or -1. */
export const findBox = ({ state, boxPlaces }: Pick<Working, 'state' | 'boxPlaces'>, key: Uint8Array): number =>
  boxPlaces.find(key, state.boxes.length, (place) => state.boxes.getReadonly(place).key)

const columns = Object.keys(AccountsType.fields) as (keyof typeof AccountsType.fields)[]

/** A new account with nothing in it. */
export function addAccount({ accounts, places }: Located, key: Uint8Array): number {
  const place = accounts.key.length
  for (const column of columns) {
    if (column === 'key') accounts.key.push(key)
    else if (column === 'vrfKey' || column === 'roundRoot') accounts[column].push(new Uint8Array(32))
    else if (column === 'ready' || column === 'authority' || column === 'unlocking') accounts[column].push(0)
    else accounts[column].push(0n)
  }
  // The purse has two entries of each account.
  accounts.purse.push(0n)
  places.note(key, place)
  return place
}

/** Whether there can be no further account. */
export const isFull = ({ accounts }: Located): boolean => accounts.key.length >= MAX_ACCOUNTS

export const workingEpoch = ({ slot, params }: Working): bigint => epochOf(slot, params)

/** Reads a state that nobody writes to. */
export const located = (state: ChainState): Located => ({ accounts: state.view.accounts, places: state.places })

/** eta of an epoch: known are those of the last five, this one and the next. */
export const etaOf = (view: StateView, epoch: bigint): Uint8Array => view.etas.get(Number(epoch % 8n))
