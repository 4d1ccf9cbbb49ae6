import type { CheckSignature } from '../bytes/ed25519.ts'
import { headerMessage, txMessage } from './signing.ts'
import { decodeBlock, type Tx } from './ssz.ts'

/** How many blocks of a row, from its start, have right signatures on their headers and on all their transactions. */
export function rightEnvelopes(row: readonly Uint8Array[], genesisHash: Uint8Array, check: CheckSignature): number {
  const isRight = (tx: Tx): boolean => {
    const message = txMessage(genesisHash, tx)
    const isPaid =
      tx.payerSig.length === tx.payer.length && tx.payer.every((key, i) => check(tx.payerSig[i]!, message, key))
    return isPaid && check(tx.sig, message, tx.account)
  }
  const wrong = row.findIndex((bytes) => {
    const block = decodeBlock(bytes)
    if (block === null) return true
    const { header, body } = block
    return !check(header.sig, headerMessage(genesisHash, header), header.author) || !body.txs.every(isRight)
  })
  return wrong === -1 ? row.length : wrong
}
