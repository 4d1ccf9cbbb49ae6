import { equalBytes } from '../bytes/bytes.ts'
import type { CheckSignature } from '../bytes/ed25519.ts'
import type { CheckPatch } from './drilling/patch.ts'
import type { Vrf } from './ecvrf.ts'
import type { ChainParams } from './params.ts'
import { epochOf } from './params.ts'
import type { Problem } from './problems.ts'
import { AccountsType, type AccountsView, type StateView } from './stateType.ts'

/** What the rules ask of cryptography and of the arithmetic of tasks; a simulator hands in stand-ins. */
export interface Checks {
  readonly signature: CheckSignature
  /** The caller has checked the signatures of the header and of all transactions itself, such as on other threads. */
  readonly envelopesChecked?: boolean
  readonly vrf: Vrf['verify']
  /** Whether an account may have this key. */
  readonly key: (publicKey: Uint8Array) => boolean
  readonly patch: CheckPatch
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
  readonly author: Uint8Array
}

/** A reason to refuse, or null. */
export type Refusal = Problem | null

/**
 * Where each key stands in its list. Derived, never committed to: branches of one genesis share it, and a place that
 * different keys took on different branches is looked up in the state itself.
 */
export interface KeyPlaces {
  /** One place, or all that the key has on different branches. */
  readonly byKey: Map<string, number | number[]>
  readonly contested: Set<number>
  readonly holders: (string | undefined)[]
}

export const emptyPlaces = (): KeyPlaces => ({ byKey: new Map(), contested: new Set(), holders: [] })

/** 32 bytes as 16 letters: the cheapest name of a key that a map can hold. */
function nameOf(key: Uint8Array): string {
  const word = (at: number) => key[at]! | (key[at + 1]! << 8)
  // biome-ignore format: one line for each half, and no list in between, which would cost as much as the lookup
  return String.fromCharCode(
    word(0), word(2), word(4), word(6), word(8), word(10), word(12), word(14),
    word(16), word(18), word(20), word(22), word(24), word(26), word(28), word(30),
  )
}

export function notePlace(places: KeyPlaces, key: Uint8Array, place: number): void {
  const name = nameOf(key)
  const holder = places.holders[place]
  if (holder === undefined) places.holders[place] = name
  else if (holder !== name) places.contested.add(place)
  const known = placesOf(places, name)
  if (known.length === 0) places.byKey.set(name, place)
  else if (!known.includes(place)) places.byKey.set(name, [...known, place])
}

function placesOf({ byKey }: KeyPlaces, name: string): readonly number[] {
  const known = byKey.get(name)
  return known === undefined ? [] : typeof known === 'number' ? [known] : known
}

type Located = Pick<Working, 'accounts' | 'places'>

/** The place of an account, or -1. */
export function findAccount({ accounts, places }: Located, key: Uint8Array): number {
  const name = nameOf(key)
  const known = places.byKey.get(name)
  if (known === undefined) return -1
  const count = accounts.key.length
  const isHere = (place: number) =>
    place < count && (!places.contested.has(place) || equalBytes(accounts.key.get(place), key))
  if (typeof known === 'number') return isHere(known) ? known : -1
  return known.find(isHere) ?? -1
}

/** The place of a box, removed or not, or -1. */
export function findBox({ state, boxPlaces }: Pick<Working, 'state' | 'boxPlaces'>, key: Uint8Array): number {
  const isHere = (place: number) => place < state.boxes.length && equalBytes(state.boxes.getReadonly(place).key, key)
  return placesOf(boxPlaces, nameOf(key)).find(isHere) ?? -1
}

const columns = Object.keys(AccountsType.fields) as (keyof typeof AccountsType.fields)[]

/** A new account with nothing in it. */
export function addAccount({ accounts, places }: Located, key: Uint8Array): number {
  const place = accounts.key.length
  for (const column of columns) {
    if (column === 'key') accounts.key.push(key)
    else if (column === 'vrfKey') accounts.vrfKey.push(new Uint8Array(32))
    else if (column === 'ready' || column === 'authority') accounts[column].push(0)
    else accounts[column].push(0n)
  }
  // The purse has two entries of each account.
  accounts.purse.push(0n)
  notePlace(places, key, place)
  return place
}

export const findOrAddAccount = (located: Located, key: Uint8Array): number => {
  const place = findAccount(located, key)
  return place === -1 ? addAccount(located, key) : place
}

export const workingEpoch = ({ slot, params }: Working): bigint => epochOf(slot, params)

/** Reads a state that nobody writes to. */
export const located = (state: ChainState): Located => ({ accounts: state.view.accounts, places: state.places })

/** eta of an epoch: known are those of the last five, this one and the next. */
export const etaOf = (view: StateView, epoch: bigint): Uint8Array => view.etas.get(Number(epoch % 8n))
