import { nodeRoutes } from '../../apps/api/node/nodeRoutes.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { signTx } from '../../core/chain/signTx.ts'
import { TransferType } from '../../core/chain/transactions/payloads.ts'
import type { Clock } from '../../ports/clock.ts'
import { fault } from '../faults.ts'
import { system } from '../system.ts'
import type { NodeClient } from './nodeClient.ts'

const TRANSFER = 0

export interface Payment {
  readonly to: Uint8Array
  readonly amount: bigint
}

/** A kind of transaction (chain.md §3.9) and what it says. */
export interface Said {
  readonly kind: number
  readonly payload: Uint8Array
}

/** A transaction that a node took: which it is, and how to know that it stays. */
export interface Sent {
  readonly id: string
  readonly nonce: bigint
  /** After this slot no block takes it any more. */
  readonly lastSlot: bigint
  /** The last block that was final before it was sent. */
  readonly finalHeight: number
}

/** Signs a payment and hands it to a node. */
export async function sendPayment(
  client: NodeClient,
  signer: Signer,
  { to, amount }: Payment,
  signal: AbortSignal,
): Promise<Sent> {
  return await sendTxs(client, signer, [{ kind: TRANSFER, payload: TransferType.serialize({ to, amount }) }], signal)
}

/** Signs transactions that follow each other and hands them to a node. Returns the last of them. */
export async function sendTxs(
  client: NodeClient,
  signer: Signer,
  said: readonly Said[],
  signal: AbortSignal,
): Promise<Sent> {
  const account = toHex(signer.publicKey)
  const asked = { params: { key: account }, query: { at: 'head' as const } }
  const known = await client.ask(nodeRoutes.getAccount, asked, signal).catch((error: unknown) => {
    if (fault.is(error, 'NODE_REFUSED') && error.detail.said === 'NOT_FOUND') return null
    throw error
  })
  if (known === null) throw fault('NO_FUNDS', { account })
  const terms = await client.terms(signal)
  const when = { lastSlot: terms.slot + terms.epochSlots, finalHeight: terms.finalHeight }
  let sent: Sent = { id: '', nonce: BigInt(known.nextNonce) - 1n, ...when }
  for (const { kind, payload } of said) {
    const nonce = sent.nonce + 1n
    const tx = signTx(signer, { kind, nonce, payload }, terms)
    const refusal = await client.submit(tx, signal)
    if (refusal !== null) throw fault('TX_REFUSED', { code: refusal.code })
    sent = { id: toHex(sha256(tx)), nonce, ...when }
  }
  return sent
}

/**
 * Until a transaction is in a final block. Throws where its time passed without it, or another one of its number is final
 * (attack 284): that the account went on does not say with which.
 */
export async function untilFinal(
  client: NodeClient,
  account: string,
  sent: Sent,
  signal: AbortSignal,
  clock: Clock = system.clock,
): Promise<void> {
  let seen = sent.finalHeight
  let isIn = false
  for (;;) {
    const { final, slotMs } = await client.ask(nodeRoutes.getChain, {}, signal)
    const found = final.height === 0 ? null : await client.provenAccount(account, 'final', signal)
    while (seen < final.height && !isIn) {
      const block = { params: { block: String(++seen) } }
      const { transactions } = await client.ask(nodeRoutes.getBlock, block, signal)
      isIn = transactions.some(({ id }) => id === sent.id)
    }
    const isPast = found !== null && found.view.nonce > sent.nonce
    if (isPast && isIn) return
    if (isPast && found.block.height <= seen) throw fault('TX_REPLACED', { id: sent.id })
    if (BigInt(final.slot) > sent.lastSlot) throw fault('TX_EXPIRED', { id: sent.id })
    await clock.sleep(slotMs, signal)
  }
}
