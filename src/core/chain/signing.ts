import { digest } from '@chainsafe/as-sha256'
import { ContainerType, ListCompositeType } from '@chainsafe/ssz'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import {
  type Body,
  BodyType,
  Bytes32,
  CommitType,
  type Header,
  MAX_BLOCK_TXS,
  type Tx,
  type UnsignedHeader,
  UnsignedHeaderType,
  type UnsignedTx,
  UnsignedTxType,
  type UnsignedVote,
  UnsignedVoteType,
} from './ssz.ts'

/** What is signed of a transaction, by its account and by who pays for it. */
export const txMessage = (genesisHash: Uint8Array, tx: UnsignedTx): Uint8Array =>
  digest(concatBytes(ascii('ts1/tx'), genesisHash, UnsignedTxType.serialize(tx)))

export const headerMessage = (genesisHash: Uint8Array, header: UnsignedHeader): Uint8Array =>
  digest(concatBytes(ascii('ts1/header'), genesisHash, blockHash(header)))

export const voteMessage = (genesisHash: Uint8Array, vote: UnsignedVote): Uint8Array =>
  digest(concatBytes(ascii('ts1/vote'), genesisHash, UnsignedVoteType.serialize(vote)))

/** The name of a block: the root of its header without the signature. */
export const blockHash = (header: UnsignedHeader | Header): Uint8Array => UnsignedHeaderType.hashTreeRoot(header)

const HashedBodyType = new ContainerType({
  txs: new ListCompositeType(Bytes32, MAX_BLOCK_TXS),
  commit: new ListCompositeType(CommitType, 1),
})

/** Over the hashes of the transactions: a third of the work of a tree over their fields. */
export const bodyRoot = ({ txs, commit }: Body): Uint8Array =>
  HashedBodyType.hashTreeRoot({ txs: txHashes(txs), commit })

const TxsType = BodyType.fields.txs

/** All of them from one row of bytes: the list holds their offsets, then one after the other. */
function txHashes(txs: Tx[]): Uint8Array[] {
  const bytes = TxsType.serialize(txs)
  const offsets = new DataView(bytes.buffer, bytes.byteOffset)
  const startOf = (at: number) => (at < txs.length ? offsets.getUint32(4 * at, true) : bytes.length)
  return txs.map((_, at) => digest(bytes.subarray(startOf(at), startOf(at + 1))))
}

/** Of a body as it travels: each list has an offset, and each transaction one in its list. */
export const bodyBytes = ({ txs, commit }: Body): number =>
  txs.reduce((sum, tx) => sum + 4 + txBytes(tx), 8) + BodyType.fields.commit.value_serializedSize(commit)

/** With the offsets of payer, payload and the payer's signature. */
const FIXED_TX_BYTES = 1 + 32 + 8 + 8 + 8 + 4 + 4 + 64 + 4

export const txBytes = ({ payload, payer, payerSig }: Tx): number =>
  FIXED_TX_BYTES + payload.length + 32 * payer.length + 64 * payerSig.length
