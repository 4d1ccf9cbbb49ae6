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
  TxType,
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

export const txHash = (tx: Tx): Uint8Array => digest(TxType.serialize(tx))

const HashedBodyType = new ContainerType({
  txs: new ListCompositeType(Bytes32, MAX_BLOCK_TXS),
  commit: new ListCompositeType(CommitType, 1),
})

/** Over the hashes of the transactions: a third of the work of a tree over their fields. */
export const bodyRoot = ({ txs, commit }: Body): Uint8Array =>
  HashedBodyType.hashTreeRoot({ txs: txs.map(txHash), commit })

export const bodyBytes = (body: Body): number => BodyType.value_serializedSize(body)
