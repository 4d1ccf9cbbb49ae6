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
  readonly byKey: Map<string, number[]>
  readonly contested: Set<number>
  readonly holders: (string | undefined)[]
}

export const emptyPlaces = (): KeyPlaces => ({ byKey: new Map(), contested: new Set(), holders: [] })

/** 32 bytes as 16 letters: the cheapest name of a key that a map can hold. */
function nameOf(key: Uint8Array): string {
  const word = (at: number) => key[at]! | (key[at + 1]! << 8)
  return String.fromCharCode(
    ...[word(0), word(2), word(4), word(6), word(8), word(10), word(12), word(14)],
    ...[word(16), word(18), word(20), word(22), word(24), word(26), word(28), word(30)],
  )
}

export function notePlace(places: KeyPlaces, key: Uint8Array, place: number): void {
  const name = nameOf(key)
  const holder = places.holders[place]
  if (holder === undefined) places.holders[place] = name
  else if (holder !== name) places.contested.add(place)
  const known = places.byKey.get(name)
  if (known === undefined) places.byKey.set(name, [place])
  else if (!known.includes(place)) known.push(place)
}

type Located = Pick<Working, 'accounts' | 'places'>

/** The place of an account, or -1. */
export function findAccount({ accounts, places }: Located, key: Uint8Array): number {
  const { byKey, contested } = places
  const known = byKey.get(nameOf(key))
  if (known === undefined) return -1
  const count = accounts.nonce.length
  for (const place of known)
    if (place < count && (!contested.has(place) || equalBytes(accounts.key.get(place), key))) return place
  return -1
}

/** The place of a box, removed or not, or -1. */
export function findBox({ state, boxPlaces }: Pick<Working, 'state' | 'boxPlaces'>, key: Uint8Array): number {
  const known = boxPlaces.byKey.get(nameOf(key)) ?? []
  const isHere = (place: number) => place < state.boxes.length && equalBytes(state.boxes.getReadonly(place).key, key)
  return known.find(isHere) ?? -1
}

const columns = Object.keys(AccountsType.fields) as (keyof typeof AccountsType.fields)[]

/** A new account with nothing in it. */
export function addAccount({ accounts, places }: Located, key: Uint8Array): number {
  const place = accounts.nonce.length
  for (const column of columns) {
    if (column === 'key') accounts.key.push(key)
    else if (column === 'vrfKey') accounts.vrfKey.push(new Uint8Array(32))
    else if (column === 'ready' || column === 'authority') accounts[column].push(0)
    else accounts[column].push(0n)
  }
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
