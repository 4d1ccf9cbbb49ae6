import { equalBytes } from '../../bytes/bytes.ts'
import { type ChainState, findBox } from '../chainState.ts'
import type { VrfKey } from '../ecvrf.ts'
import { balanceOf } from '../purse.ts'
import { boxAddMessage } from '../transactions/boxes.ts'
import { possessionAlpha } from '../transactions/money.ts'
import { BoxAddType, LockType, ReadyType, VrfKeyType } from '../transactions/payloads.ts'
import type { DueMove } from './drillMoves.ts'

const [VRF_KEY, LOCK, BOX_ADD, READY] = [1, 2, 4, 11]
const DEPOSIT = 2
const NO_KEY = new Uint8Array(32)
/** The class of tasks of kind 0. */
const PRODUCTS = 1

/** An account that wants to drill, and the box that it does it on. */
export interface Joiner {
  readonly place: number
  readonly key: Uint8Array
  readonly vrfKey: VrfKey
  readonly box: { readonly publicKey: Uint8Array; sign(message: Uint8Array): Uint8Array }
}

/** What an account still has to say before it is drawn: a key for the lottery, its box, its deposit, and that it is ready. */
export function joinMoves(state: ChainState, { place, key, vrfKey, box }: Joiner): DueMove[] {
  const { view, params, genesisHash, boxPlaces } = state
  const { accounts, epoch } = view
  const moves: DueMove[] = []
  const say = (kind: number, payload: Uint8Array, about: string) => void moves.push({ kind, payload, about })
  if (equalBytes(accounts.vrfKey.get(place), NO_KEY)) {
    const proof = vrfKey.prove(possessionAlpha(key))
    say(VRF_KEY, VrfKeyType.serialize({ key: vrfKey.publicKey, proof }), 'vrfKey')
  }
  const at = findBox({ state: view, boxPlaces }, box.publicKey)
  if (at === -1 || view.boxes.getReadonly(at).account === 0) {
    const boxSig = box.sign(boxAddMessage(genesisHash, box.publicKey, key))
    say(BOX_ADD, BoxAddType.serialize({ box: box.publicKey, boxSig }), 'box')
  }
  const missing = params.deposit - accounts.deposit.get(place)
  const isIn = accounts.drillsFrom.get(place) <= epoch
  if (missing > 0n && isIn && balanceOf(accounts, place) > missing)
    say(LOCK, LockType.serialize({ purpose: DEPOSIT, amount: missing }), 'deposit')
  if (missing <= 0n && isIn && accounts.capacity.get(place) > 0n && accounts.ready.get(place) === 0)
    say(READY, ReadyType.serialize({ classes: PRODUCTS }), 'ready')
  return moves
}
