import type { ChainState, Checks, Refusal, Working } from '../chainState.ts'
import { PlacesOver } from '../keyPlaces.ts'
import type { Tx } from '../ssz.ts'
import { applyTx } from './applyTx.ts'

/** Why a block on this state could not hold the transaction, its epoch being that of the state; null if it could. */
export function checkTx(state: ChainState, tx: Tx, slot: bigint, checks: Checks): Refusal {
  const { params, genesisHash, head, view: before } = state
  const view = before.clone()
  // A trial leaves nothing behind: not even the places of accounts that it would create.
  const [places, boxPlaces] = [new PlacesOver(state.places), new PlacesOver(state.boxPlaces)]
  const shared = { params, genesisHash, places, boxPlaces, checks, slot, author: head }
  const working: Working = { ...shared, state: view, accounts: view.accounts }
  return applyTx(working, tx)
}
