import {
  type BitArray,
  BitListType,
  ByteListType,
  ByteVectorType,
  ContainerType,
  ListCompositeType,
  type Type,
  UintBigintType,
  UintNumberType,
} from '@chainsafe/ssz'
import { equalBytes } from '../bytes/bytes.ts'

/** Small numbers are numbers, everything from 64 bits on is a bigint: the library rounds or wraps what does not fit. */
export const U8 = new UintNumberType(1)
export const U16 = new UintNumberType(2)
export const U32 = new UintNumberType(4)
export const U64 = new UintBigintType(8)
export const U128 = new UintBigintType(16)
export const Bytes32 = new ByteVectorType(32)
export const Bytes64 = new ByteVectorType(64)
export const Bytes80 = new ByteVectorType(80)

export const MAX_TX_BYTES = 131_072
export const MAX_BLOCK_TXS = 4_096
export const MAX_VOTERS = 1_024

const unsignedTx = {
  kind: U8,
  account: Bytes32,
  nonce: U64,
  fee: U64,
  lastSlot: U64,
  payer: new ListCompositeType(Bytes32, 1),
  payload: new ByteListType(MAX_TX_BYTES),
}

/** §3.9. What a transaction's signatures cover, and the whole of it; `payer` is empty where the account pays. */
export const UnsignedTxType = new ContainerType(unsignedTx)
export const TxType = new ContainerType({ ...unsignedTx, sig: Bytes64, payerSig: new ListCompositeType(Bytes64, 1) })

const unsignedHeader = {
  parent: Bytes32,
  slot: U64,
  author: Bytes32,
  kind: U8,
  vrfProof: Bytes80,
  stateRoot: Bytes32,
  bodyRoot: Bytes32,
}

/** §3.2. The hash of a block is the root of its header without the signature. */
export const UnsignedHeaderType = new ContainerType(unsignedHeader)
export const HeaderType = new ContainerType({ ...unsignedHeader, sig: Bytes64 })

const unsignedVote = {
  kind: U8,
  set: U64,
  round: U64,
  target: Bytes32,
  targetSlot: U64,
  lockRound: U64,
  late: U8,
  voter: Bytes32,
}

export const UnsignedVoteType = new ContainerType(unsignedVote)
export const VoteType = new ContainerType({ ...unsignedVote, sig: Bytes64 })

/** §3.6. A quorum of precommits: `voters` names members of the set in its order, `sigs` has one for each of them. */
export const CommitType = new ContainerType({
  set: U64,
  round: U64,
  target: Bytes32,
  targetSlot: U64,
  late: U8,
  voters: new BitListType(MAX_VOTERS),
  sigs: new ListCompositeType(Bytes64, MAX_VOTERS),
})

/** `commit` is a list of one or none. */
export const BodyType = new ContainerType({
  txs: new ListCompositeType(TxType, MAX_BLOCK_TXS),
  commit: new ListCompositeType(CommitType, 1),
})
export const BlockType = new ContainerType({ header: HeaderType, body: BodyType })

export interface UnsignedTx {
  readonly kind: number
  readonly account: Uint8Array
  readonly nonce: bigint
  readonly fee: bigint
  readonly lastSlot: bigint
  readonly payer: Uint8Array[]
  readonly payload: Uint8Array
}
export interface Tx extends UnsignedTx {
  readonly sig: Uint8Array
  readonly payerSig: Uint8Array[]
}
export interface UnsignedHeader {
  readonly parent: Uint8Array
  readonly slot: bigint
  readonly author: Uint8Array
  readonly kind: number
  readonly vrfProof: Uint8Array
  readonly stateRoot: Uint8Array
  readonly bodyRoot: Uint8Array
}
export interface Header extends UnsignedHeader {
  readonly sig: Uint8Array
}
export interface UnsignedVote {
  readonly kind: number
  readonly set: bigint
  readonly round: bigint
  readonly target: Uint8Array
  readonly targetSlot: bigint
  readonly lockRound: bigint
  readonly late: number
  readonly voter: Uint8Array
}
export interface Vote extends UnsignedVote {
  readonly sig: Uint8Array
}
export interface Commit {
  readonly set: bigint
  readonly round: bigint
  readonly target: Uint8Array
  readonly targetSlot: bigint
  readonly late: number
  readonly voters: BitArray
  readonly sigs: Uint8Array[]
}
export interface Body {
  readonly txs: Tx[]
  readonly commit: Commit[]
}
export interface Block {
  readonly header: Header
  readonly body: Body
}

/** The value that these bytes spell, or null unless they are its only spelling. */
export function decodeExactly<V>(type: Type<V>, bytes: Uint8Array): V | null {
  try {
    // The library keeps views into what it reads: a copy, so that nobody changes a value from outside.
    const value = type.deserialize(bytes.slice())
    // What has one length holds numbers and bytes alone: each spelling is a value of its own.
    if (type.fixedSize !== null) return value
    return equalBytes(type.serialize(value), bytes) ? value : null
  } catch {
    return null
  }
}

export const encodeBlock = (block: Block): Uint8Array => BlockType.serialize(block)

export const decodeTx = (bytes: Uint8Array): Tx | null =>
  bytes.length > MAX_TX_BYTES ? null : decodeExactly<Tx>(TxType, bytes)
