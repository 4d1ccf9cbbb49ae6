import type { Signer } from '../bytes/ed25519.ts'
import { txBytes, txMessage } from './signing.ts'
import { type Tx, TxType } from './ssz.ts'

/** What a transaction is made for. */
interface Terms {
  readonly genesisHash: Uint8Array
  readonly feePerByte: bigint
  readonly epochSlots: bigint
  readonly slot: bigint
}

type Wanted = Pick<Tx, 'kind' | 'nonce' | 'payload'> & Partial<Pick<Tx, 'lastSlot'>>

/** The bytes of a transaction of the signer at the lowest fee, good for an epoch from the head on unless told otherwise. */
export function signTx(signer: Signer, { kind, nonce, payload, ...wanted }: Wanted, terms: Terms): Uint8Array {
  const lastSlot = wanted.lastSlot ?? terms.slot + terms.epochSlots
  const draft = { kind, account: signer.publicKey, nonce, fee: 0n, lastSlot, payer: [], payload }
  const unsigned = { ...draft, payerSig: [], sig: new Uint8Array(64) }
  const tx = { ...unsigned, fee: terms.feePerByte * BigInt(txBytes(unsigned)) }
  return TxType.serialize({ ...tx, sig: signer.sign(txMessage(terms.genesisHash, tx)) })
}
