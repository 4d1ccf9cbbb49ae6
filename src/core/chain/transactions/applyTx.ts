import { addAccount, findAccount, isFull, type Refusal, type Working } from '../chainState.ts'
import { problem } from '../problems.ts'
import { balanceOf, nonceOf, setBalance, setNonce } from '../purse.ts'
import { txBytes, txMessage } from '../signing.ts'
import { MAX_TX_BYTES, type Tx } from '../ssz.ts'
import { boxAdd, boxRemove, publish, report, reveal } from './boxes.ts'
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
  ...{ 24: evidence, 25: publish },
}

/** Orders of the market: not built yet. */
const isReserved = (kind: number) => kind >= 16 && kind <= 23

const MAX_U64 = (1n << 64n) - 1n
const isU64 = (value: bigint) => value >= 0n && value <= MAX_U64

const unknown = (kind: number) => problem(isReserved(kind) ? 'RESERVED' : 'UNKNOWN_KIND', 'kind')
const UNREADABLE = problem('MALFORMED', 'payload')

/** Why no state could hold a transaction of this kind and payload; null if one could. */
export function checkForm({ kind, payload }: Tx): Refusal {
  const handle = HANDLERS[kind]
  return handle === undefined ? unknown(kind) : handle(payload) === null ? UNREADABLE : null
}

/** Applies one transaction, or says why the block that holds it is refused. Returns nothing but a refusal: the caller counts fees. */
export function applyTx(working: Working, tx: Tx): Refusal {
  const handle = HANDLERS[tx.kind]
  if (handle === undefined) return unknown(tx.kind)
  const { accounts, params, slot } = working
  if (!isU64(tx.nonce) || !isU64(tx.fee) || !isU64(tx.lastSlot)) return problem('MALFORMED', 'nonce, fee, lastSlot')
  const bytes = txBytes(tx)
  if (bytes > MAX_TX_BYTES) return problem('SIZE', 'payload')
  if (tx.fee < params.feePerByte * BigInt(bytes)) return problem('FEE', 'fee')
  if (tx.lastSlot < slot || tx.lastSlot > slot + params.epochSlots) return problem('EXPIRED', 'lastSlot')
  const known = findAccount(working, tx.account)
  const [payerKey] = tx.payer
  if (known === -1 && payerKey === undefined) return problem('ACCOUNT', 'account')
  if (known === -1 && isFull(working)) return problem('FULL', 'account')
  if (tx.nonce !== (known === -1 ? 0n : nonceOf(accounts, known))) return problem('NONCE', 'nonce')
  const payer = payerKey === undefined ? known : findAccount(working, payerKey)
  if (payer === -1 || (payerKey !== undefined && payer === known)) return problem('ACCOUNT', 'payer')
  const balance = balanceOf(accounts, payer)
  if (balance < tx.fee) return problem('BALANCE', 'fee')
  const unsigned = checkSignatures(working, tx)
  if (unsigned !== null) return unsigned
  const place = known === -1 ? addAccount(working, tx.account) : known
  setBalance(accounts, payer, balance - tx.fee)
  setNonce(accounts, place, tx.nonce + 1n)
  const apply = handle(tx.payload)
  return apply === null ? UNREADABLE : apply(working, place)
}

/** Of its account, and of who pays for it. */
export function checkSignatures({ checks, genesisHash }: Pick<Working, 'checks' | 'genesisHash'>, tx: Tx): Refusal {
  // A key is looked at once, when it first signs: every library then judges it alike.
  if (tx.nonce === 0n && !checks.key(tx.account)) return problem('KEY', 'account')
  if (tx.payerSig.length !== tx.payer.length) return problem('SIGNATURE', 'payerSig')
  if (checks.envelopesChecked) return null
  const message = txMessage(genesisHash, tx)
  if (!checks.signature(tx.sig, message, tx.account)) return problem('SIGNATURE', 'sig')
  const isPaid = tx.payer.every((payer, i) => checks.signature(tx.payerSig[i]!, message, payer))
  return isPaid ? null : problem('SIGNATURE', 'payerSig')
}
