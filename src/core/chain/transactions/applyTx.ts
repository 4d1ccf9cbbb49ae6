import { addAccount, findAccount, type Refusal, type Working } from '../chainState.ts'
import { problem } from '../problems.ts'
import { txBytes, txMessage } from '../signing.ts'
import { MAX_TX_BYTES, type Tx } from '../ssz.ts'
import { boxAdd, boxRemove, report, reveal } from './boxes.ts'
import { disputeMove } from './dispute.ts'
import { drillCommit, drillOpen, drillReveal } from './drill.ts'
import { evidence } from './evidence.ts'
import type { Handler } from './handler.ts'
import { lock, transfer, unlock, vrfKey } from './money.ts'
import { projectVote, propose, ready, tasks } from './projects.ts'

/** Kinds of transactions by their number (§3.9). */
const HANDLERS: Readonly<Record<number, Handler>> = {
  ...[transfer, vrfKey, lock, unlock, boxAdd, boxRemove, report, reveal],
  ...{ 8: propose, 9: projectVote, 10: tasks, 11: ready },
  ...{ 12: drillCommit, 13: drillReveal, 14: drillOpen, 15: disputeMove },
  24: evidence,
}

/** Orders of the market: not built yet. */
const isReserved = (kind: number) => kind >= 16 && kind <= 23

const isU64 = (value: bigint) => value >= 0n && value < 1n << 64n
function isZero(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) return false
  return true
}

/** Applies one transaction, or says why the block that holds it is refused. Returns nothing but a refusal: the caller counts fees. */
export function applyTx(working: Working, tx: Tx): Refusal {
  const handle = HANDLERS[tx.kind]
  if (handle === undefined) return problem(isReserved(tx.kind) ? 'RESERVED' : 'UNKNOWN_KIND', 'kind')
  const { accounts, params, slot } = working
  if (!isU64(tx.nonce) || !isU64(tx.fee) || !isU64(tx.lastSlot)) return problem('MALFORMED', 'nonce, fee, lastSlot')
  const bytes = txBytes(tx)
  if (bytes > MAX_TX_BYTES) return problem('SIZE', 'payload')
  if (tx.fee < params.feePerByte * BigInt(bytes)) return problem('FEE', 'fee')
  if (tx.lastSlot < slot || tx.lastSlot > slot + params.epochSlots) return problem('EXPIRED', 'lastSlot')
  const ownPays = isZero(tx.payer)
  const known = findAccount(working, tx.account)
  if (known === -1 && ownPays) return problem('ACCOUNT', 'account')
  if (tx.nonce !== (known === -1 ? 0n : accounts.nonce.get(known))) return problem('NONCE', 'nonce')
  const payer = ownPays ? known : findAccount(working, tx.payer)
  if (payer === -1 || (!ownPays && payer === known)) return problem('ACCOUNT', 'payer')
  const balance = accounts.balance.get(payer)
  if (balance < tx.fee) return problem('BALANCE', 'fee')
  const unsigned = checkSignatures(working, tx, ownPays)
  if (unsigned !== null) return unsigned
  const place = known === -1 ? addAccount(working, tx.account) : known
  accounts.balance.set(payer, balance - tx.fee)
  accounts.nonce.set(place, tx.nonce + 1n)
  return handle(working, place, tx.payload)
}

function checkSignatures({ checks, genesisHash }: Working, tx: Tx, ownPays: boolean): Refusal {
  // A key is looked at once, when it first signs: every library then judges it alike.
  if (tx.nonce === 0n && !checks.key(tx.account)) return problem('KEY', 'account')
  if (ownPays && !isZero(tx.payerSig)) return problem('SIGNATURE', 'payerSig')
  if (checks.envelopesChecked) return null
  const message = txMessage(genesisHash, tx)
  if (!checks.signature(tx.sig, message, tx.account)) return problem('SIGNATURE', 'sig')
  return ownPays || checks.signature(tx.payerSig, message, tx.payer) ? null : problem('SIGNATURE', 'payerSig')
}
