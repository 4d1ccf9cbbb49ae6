import { ascii, concatBytes, equalBytes } from '../../bytes/bytes.ts'
import { addAccount, findAccount, isFull, workingEpoch } from '../chainState.ts'
import { add, PURPOSES, subtract } from '../ledger.ts'
import { problem } from '../problems.ts'
import { balanceOf, setBalance } from '../purse.ts'
import { MAX_UNLOCKS, UnlockType } from '../stateType.ts'
import { handler } from './handler.ts'
import { LockType, TransferType, VrfKeyType } from './payloads.ts'
import { boundByProjects } from './projects.ts'

export const transfer = handler(TransferType, (working, place, { to, amount }) => {
  if (amount === 0n) return problem('AMOUNT', 'payload.amount')
  const held = balanceOf(working.accounts, place)
  if (held < amount) return problem('BALANCE', 'payload.amount')
  const known = findAccount(working, to)
  if (known === -1 && isFull(working)) return problem('FULL', 'payload.to')
  setBalance(working.accounts, place, held - amount)
  add(working, 'balance', known === -1 ? addAccount(working, to) : known, amount)
  return null
})

/** What the holder of a VRF key proves, so that nobody registers another's. */
export const possessionAlpha = (account: Uint8Array): Uint8Array => concatBytes(ascii('ts1/pop'), account)

export const vrfKey = handler(VrfKeyType, (working, place, { key, proof }) => {
  const { accounts, checks, params } = working
  if (equalBytes(accounts.vrfKey.get(place), key)) return problem('KEY', 'payload.key')
  // The function refuses every key that is not a canonical point of order L.
  if (checks.vrf(key, possessionAlpha(accounts.key.get(place)), proof) === null)
    return problem('POSSESSION', 'payload.proof')
  accounts.vrfKey.set(place, key)
  accounts.vrfFrom.set(place, workingEpoch(working) + params.keyAgeEpochs)
  return null
})

export const lock = handler(LockType, (working, place, { purpose, amount }) => {
  const column = PURPOSES[purpose]
  if (column === undefined) return problem('PURPOSE', 'payload.purpose')
  if (amount === 0n) return problem('AMOUNT', 'payload.amount')
  if (balanceOf(working.accounts, place) < amount) return problem('BALANCE', 'payload.amount')
  subtract(working, 'balance', place, amount)
  add(working, column, place, amount)
  return null
})

/** Bounds what an account can have under way, so that nobody fills the list for all. */
const UNLOCKS_EACH = 16

export const unlock = handler(LockType, (working, place, { purpose, amount }) => {
  const { accounts, state, params } = working
  const column = PURPOSES[purpose]
  if (column === undefined) return problem('PURPOSE', 'payload.purpose')
  if (amount === 0n) return problem('AMOUNT', 'payload.amount')
  if (accounts[column].get(place) < amount) return problem('BALANCE', 'payload.amount')
  const left = accounts[column].get(place) - amount
  if (column === 'projectBond' && left < boundByProjects(state, place, params.projectBond))
    return problem('PROJECT', 'payload.amount')
  const own = accounts.unlocking.get(place)
  if (own >= UNLOCKS_EACH || state.unlocks.length >= MAX_UNLOCKS) return problem('FULL', 'payload')
  accounts.unlocking.set(place, own + 1)
  subtract(working, column, place, amount)
  state.unlocks.push(UnlockType.toViewDU({ account: place, purpose, amount, epoch: workingEpoch(working) }))
  return null
})
