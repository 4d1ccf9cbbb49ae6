import { ByteListType, ContainerType, ListCompositeType, type Type } from '@chainsafe/ssz'
import { concatBytes } from '../../bytes/bytes.ts'
import { fromHex, toHex } from '../../bytes/hex.ts'
import type { Quorum } from '../consensus/vote.ts'
import { Bytes32, decodeExactly, U8, U32, U64 } from '../ssz.ts'
import { QuorumType, readQuorum, spelledQuorum } from './messages.ts'

/** The most of one answer (§3.11). */
export const MOST_BLOCKS = 64
export const MOST_ANCESTORS = 32
export const MOST_QUORUMS = 64
export const MOST_ANSWER_BYTES = 4 << 20
export const STATE_CHUNK_BYTES = 1 << 20
/** Answers with the offsets of their lists. */
export const ANSWER_LIMIT_BYTES = MOST_ANSWER_BYTES + 4_096

/** What a node asks another. */
export type Question =
  | { readonly kind: 'status' }
  /** Blocks of the branch of its head, from a height on. */
  | { readonly kind: 'blocks'; readonly from: number; readonly count: number }
  /** A block and those before it, the oldest first. */
  | { readonly kind: 'ancestors'; readonly id: string; readonly count: number }
  /** What a node needs whose last final block is of this set. */
  | { readonly kind: 'quorums'; readonly set: number }
  /** A part of the state after a block. */
  | { readonly kind: 'state'; readonly id: string; readonly chunk: number }

const BlocksType = new ContainerType({ from: U64, count: U8 })
const AncestorsType = new ContainerType({ id: Bytes32, count: U8 })
const QuorumsType = new ContainerType({ set: U64 })
const StateType = new ContainerType({ id: Bytes32, chunk: U32 })

const tagged = <V>(tag: number, type: Type<V>, value: V): Uint8Array =>
  concatBytes(Uint8Array.of(tag), type.serialize(value))

export function encodeQuestion(question: Question): Uint8Array {
  switch (question.kind) {
    case 'status':
      return Uint8Array.of(0)
    case 'blocks':
      return tagged(1, BlocksType, { from: BigInt(question.from), count: question.count })
    case 'ancestors':
      return tagged(2, AncestorsType, { id: fromHex(question.id, 32)!, count: question.count })
    case 'quorums':
      return tagged(3, QuorumsType, { set: BigInt(question.set) })
    case 'state':
      return tagged(4, StateType, { id: fromHex(question.id, 32)!, chunk: question.chunk })
  }
}

const isSafe = (number: bigint) => number <= BigInt(Number.MAX_SAFE_INTEGER)

/** A question, or null unless these bytes are its only spelling and it asks for no more than one may. */
export function decodeQuestion(bytes: Uint8Array): Question | null {
  const rest = bytes.subarray(1)
  if (bytes[0] === 0) return rest.length === 0 ? { kind: 'status' } : null
  if (bytes[0] === 1) {
    const asked = decodeExactly(BlocksType, rest)
    const isFair = asked !== null && isSafe(asked.from) && asked.count > 0 && asked.count <= MOST_BLOCKS
    return isFair ? { kind: 'blocks', from: Number(asked.from), count: asked.count } : null
  }
  if (bytes[0] === 2) {
    const asked = decodeExactly(AncestorsType, rest)
    const isFair = asked !== null && asked.count > 0 && asked.count <= MOST_ANCESTORS
    return isFair ? { kind: 'ancestors', id: toHex(asked.id), count: asked.count } : null
  }
  if (bytes[0] === 3) {
    const asked = decodeExactly(QuorumsType, rest)
    return asked !== null && isSafe(asked.set) ? { kind: 'quorums', set: Number(asked.set) } : null
  }
  const asked = bytes[0] === 4 ? decodeExactly(StateType, rest) : null
  return asked === null ? null : { kind: 'state', id: toHex(asked.id), chunk: asked.chunk }
}

/** A block as a status names it. */
export interface Place {
  readonly id: string
  readonly slot: number
  readonly height: number
}
/** Where a node stands. */
export interface Status {
  readonly genesis: string
  readonly final: Place
  readonly head: Place
}

const PlaceType = new ContainerType({ id: Bytes32, slot: U64, height: U64 })
const StatusType = new ContainerType({ genesis: Bytes32, final: PlaceType, head: PlaceType })

const spelledPlace = ({ id, slot, height }: Place) => ({
  id: fromHex(id, 32)!,
  slot: BigInt(slot),
  height: BigInt(height),
})
const readPlace = ({ id, slot, height }: ReturnType<typeof spelledPlace>): Place | null =>
  isSafe(slot) && isSafe(height) ? { id: toHex(id), slot: Number(slot), height: Number(height) } : null

export const encodeStatus = ({ genesis, final, head }: Status): Uint8Array =>
  StatusType.serialize({ genesis: fromHex(genesis, 32)!, final: spelledPlace(final), head: spelledPlace(head) })

export function decodeStatus(bytes: Uint8Array): Status | null {
  const written = decodeExactly(StatusType, bytes)
  if (written === null) return null
  const [final, head] = [readPlace(written.final), readPlace(written.head)]
  return final === null || head === null ? null : { genesis: toHex(written.genesis), final, head }
}

/** Blocks are checked when they are imported: here they are bytes. */
const BlockBytesType = new ListCompositeType(new ByteListType(2 << 20), MOST_BLOCKS)
export const encodeBlocks = (blocks: readonly Uint8Array[]): Uint8Array => BlockBytesType.serialize([...blocks])
export const decodeBlocks = (bytes: Uint8Array): Uint8Array[] | null => decodeExactly(BlockBytesType, bytes)

const QuorumListType = new ListCompositeType(QuorumType, MOST_QUORUMS)
export const encodeQuorums = (quorums: readonly Quorum[]): Uint8Array =>
  QuorumListType.serialize(quorums.slice(0, MOST_QUORUMS).map(spelledQuorum))
export function decodeQuorums(bytes: Uint8Array): Quorum[] | null {
  const quorums = decodeExactly(QuorumListType, bytes)?.map(readQuorum) ?? null
  return quorums?.every((quorum) => quorum !== null) ? quorums : null
}

/** A part of a state, and how many bytes the whole has. */
export interface StateChunk {
  readonly total: number
  readonly bytes: Uint8Array
}
const StateChunkType = new ContainerType({ total: U32, bytes: new ByteListType(STATE_CHUNK_BYTES) })
export const encodeStateChunk = (chunk: StateChunk): Uint8Array => StateChunkType.serialize(chunk)
export const decodeStateChunk = (bytes: Uint8Array): StateChunk | null => decodeExactly(StateChunkType, bytes)
