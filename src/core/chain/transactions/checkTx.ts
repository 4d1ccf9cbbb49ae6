import type { ChainState, Checks, Refusal, Working } from '../chainState.ts'
import { PlacesOver } from '../keyPlaces.ts'
import { txBytes } from '../signing.ts'
import { MAX_BLOCK_TXS, type Tx } from '../ssz.ts'
import { applyTx } from './applyTx.ts'

type Trial = Omit<Working, 'state' | 'accounts'>

/** A trial leaves nothing behind: not even the places of accounts that it would create. */
function trialOn(state: ChainState, slot: bigint, checks: Checks): Trial {
  const { params, genesisHash } = state
  const [places, boxPlaces] = [new PlacesOver(state.places), new PlacesOver(state.boxPlaces)]
  return { params, genesisHash, places, boxPlaces, checks, slot }
}

/** Why a block on this state could not hold the transaction, its epoch being that of the state; null if it could. */
export function checkTx(state: ChainState, tx: Tx, slot: bigint, checks: Checks): Refusal {
  const view = state.view.clone()
  return applyTx({ ...trialOn(state, slot, checks), state: view, accounts: view.accounts }, tx)
}

/** Of a body, every transaction has an offset beside its bytes. */
export const roomFor = (tx: Tx): number => 4 + txBytes(tx)

interface Limits {
  readonly slot: bigint
  readonly checks: Checks
  /** Bytes that the block has left for transactions. */
  readonly room: number
}

/** Of transactions in this order, as many as a block holds that can follow each other, and those that cannot: each is tried on a copy. */
export function sortOut(state: ChainState, txs: readonly Tx[], { slot, checks, room }: Limits): Sorted {
  const trial = trialOn(state, slot, checks)
  const sorted: Sorted = { fitting: [], misfits: [] }
  let { view } = state
  let left = room
  for (const tx of txs) {
    if (roomFor(tx) > left || sorted.fitting.length === MAX_BLOCK_TXS) break
    const next = view.clone()
    const isFitting = applyTx({ ...trial, state: next, accounts: next.accounts }, tx) === null
    sorted[isFitting ? 'fitting' : 'misfits'].push(tx)
    if (!isFitting) continue
    left -= roomFor(tx)
    next.commit()
    view = next
  }
  return sorted
}

type Sorted = Readonly<Record<'fitting' | 'misfits', Tx[]>>
