import { digest } from '@chainsafe/as-sha256'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import {
  type Body,
  BodyType,
  MAX_BLOCK_TXS,
  MAX_TX_BYTES,
  type Tx,
  TxType,
  type UnsignedHeader,
  type UnsignedTx,
  UnsignedTxType,
  type UnsignedVote,
  UnsignedVoteType,
} from './ssz.ts'
import { rootOfChunks, rootOfList } from './treeRoot.ts'

const TX_TAG = ascii('ts1/tx')
const TX_FIELDS_AT = TX_TAG.length + 32
/** Kind, account, nonce, fee, last slot, and the offsets of payer and payload. */
const FIXED_UNSIGNED_BYTES = 1 + 32 + 8 + 8 + 8 + 4 + 4
const signed = new Uint8Array(TX_FIELDS_AT + FIXED_UNSIGNED_BYTES + 32 + MAX_TX_BYTES)
const signedNumbers = new DataView(signed.buffer, TX_FIELDS_AT)
signed.set(TX_TAG)

/** What is signed of a transaction, by its account and by who pays for it. Written by hand, as its hash is below. */
export function txMessage(genesisHash: Uint8Array, tx: UnsignedTx): Uint8Array {
  const payloadAt = FIXED_UNSIGNED_BYTES + 32 * tx.payer.length
  if (tx.payer.length > 1 || tx.payload.length > MAX_TX_BYTES)
    return digest(concatBytes(TX_TAG, genesisHash, UnsignedTxType.serialize(tx)))
  signed.set(genesisHash, TX_TAG.length)
  signed[TX_FIELDS_AT] = tx.kind
  signed.set(tx.account, TX_FIELDS_AT + 1)
  signedNumbers.setBigUint64(33, tx.nonce, true)
  signedNumbers.setBigUint64(41, tx.fee, true)
  signedNumbers.setBigUint64(49, tx.lastSlot, true)
  signedNumbers.setUint32(57, FIXED_UNSIGNED_BYTES, true)
  signedNumbers.setUint32(61, payloadAt, true)
  for (const payer of tx.payer) signed.set(payer, TX_FIELDS_AT + FIXED_UNSIGNED_BYTES)
  signed.set(tx.payload, TX_FIELDS_AT + payloadAt)
  return digest(signed.subarray(0, TX_FIELDS_AT + payloadAt + tx.payload.length))
}

export const headerMessage = (genesisHash: Uint8Array, header: UnsignedHeader): Uint8Array =>
  digest(concatBytes(ascii('ts1/header'), genesisHash, blockHash(header)))

export const voteMessage = (genesisHash: Uint8Array, vote: UnsignedVote): Uint8Array =>
  digest(concatBytes(ascii('ts1/vote'), genesisHash, UnsignedVoteType.serialize(vote)))

/** The name of a block: the root of its header without the signature. By hand, as the library takes three times as long. */
export function blockHash({ parent, slot, author, kind, vrfProof, stateRoot, bodyRoot }: UnsignedHeader): Uint8Array {
  const proof = new Uint8Array(96)
  proof.set(vrfProof)
  const fields = new Uint8Array(7 * 32)
  fields.set(parent)
  new DataView(fields.buffer).setBigUint64(32, slot, true)
  fields.set(author, 64)
  fields[96] = kind
  fields.set(rootOfChunks(proof, 2), 128)
  fields.set(stateRoot, 160)
  fields.set(bodyRoot, 192)
  return rootOfChunks(fields, 3)
}

const LIST_DEPTH = Math.log2(MAX_BLOCK_TXS)
const NO_COMMIT = BodyType.fields.commit.hashTreeRoot([])

/** Over the hashes of the transactions: a third of the work of a tree over their fields. */
export function bodyRoot({ txs, commit }: Body): Uint8Array {
  const hashes = new Uint8Array(32 * txs.length)
  for (const [i, tx] of txs.entries()) hashes.set(txHash(tx), 32 * i)
  // One with more than a body may have is refused for that, and still has a root.
  const depth = Math.max(LIST_DEPTH, Math.ceil(Math.log2(txs.length)))
  const commitRoot = commit.length === 0 ? NO_COMMIT : BodyType.fields.commit.hashTreeRoot(commit)
  return rootOfChunks(concatBytes(rootOfList(hashes, depth), commitRoot), 1)
}

/** The longest transaction fits: what is larger is refused before its hash matters. */
const written = new Uint8Array(MAX_TX_BYTES)
const numbers = new DataView(written.buffer)

/** The hash of a transaction's bytes. They are written by hand: the library takes three times as long, and a test holds them equal. */
function txHash(tx: Tx): Uint8Array {
  const length = txBytes(tx)
  if (length > MAX_TX_BYTES) return digest(TxType.serialize(tx))
  const payloadAt = FIXED_TX_BYTES + 32 * tx.payer.length
  const payerSigAt = payloadAt + tx.payload.length
  written[0] = tx.kind
  written.set(tx.account, 1)
  numbers.setBigUint64(33, tx.nonce, true)
  numbers.setBigUint64(41, tx.fee, true)
  numbers.setBigUint64(49, tx.lastSlot, true)
  numbers.setUint32(57, FIXED_TX_BYTES, true)
  numbers.setUint32(61, payloadAt, true)
  written.set(tx.sig, 65)
  numbers.setUint32(129, payerSigAt, true)
  for (const [i, payer] of tx.payer.entries()) written.set(payer, FIXED_TX_BYTES + 32 * i)
  written.set(tx.payload, payloadAt)
  for (const [i, sig] of tx.payerSig.entries()) written.set(sig, payerSigAt + 64 * i)
  return digest(written.subarray(0, length))
}

/** Of a body as it travels: each list has an offset, and each transaction one in its list. */
export const bodyBytes = ({ txs, commit }: Body): number =>
  txs.reduce((sum, tx) => sum + 4 + txBytes(tx), 8) + BodyType.fields.commit.value_serializedSize(commit)

/** With the offsets of payer, payload and the payer's signature. */
const FIXED_TX_BYTES = 1 + 32 + 8 + 8 + 8 + 4 + 4 + 64 + 4

export const txBytes = ({ payload, payer, payerSig }: Tx): number =>
  FIXED_TX_BYTES + payload.length + 32 * payer.length + 64 * payerSig.length
