import { ContainerType, ListCompositeType } from '@chainsafe/ssz'
import { fromHex, toHex } from '../../bytes/hex.ts'
import { isLockNamed, type Quorum, signedVote, spelledVote, type Vote } from '../consensus/vote.ts'
import { PRECOMMIT, PREVOTE } from '../recordCommit.ts'
import {
  Bytes32,
  Bytes64,
  type Commit,
  decodeExactly,
  MAX_VOTERS,
  U8,
  U64,
  type UnsignedVote,
  VoteType,
  type Vote as WrittenVote,
} from '../ssz.ts'

/** Votes of one round for one block; what they share stands once. */
export const QuorumType = new ContainerType({
  kind: U8,
  set: U64,
  round: U64,
  target: Bytes32,
  targetSlot: U64,
  late: U8,
  votes: new ListCompositeType(new ContainerType({ voter: Bytes32, lockRound: U64, sig: Bytes64 }), MAX_VOTERS),
})

const MOST_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
type Shared = Pick<UnsignedVote, 'kind' | 'set' | 'round' | 'target' | 'targetSlot' | 'late'>

/** What several votes have in common as consensus reads it, or null where a number is out of range. */
function readShared({ kind, set, round, target, targetSlot, late }: Shared): Omit<Quorum, 'votes'> | null {
  if (kind !== PREVOTE && kind !== PRECOMMIT) return null
  if (late > 1 || [set, round, targetSlot].some((number) => number > MOST_SAFE)) return null
  const numbers = { set: Number(set), round: Number(round), targetSlot: Number(targetSlot) }
  return { kind, ...numbers, target: toHex(target), late: late === 1 }
}

type OwnPart = Pick<WrittenVote, 'voter' | 'lockRound' | 'sig'>

function readVote(shared: Omit<Quorum, 'votes'>, { lockRound, voter, sig }: OwnPart): Vote | null {
  const vote = signedVote({ ...shared, lockRound: Number(lockRound), voter: toHex(voter) }, sig)
  return lockRound <= MOST_SAFE && isLockNamed(vote) ? vote : null
}

export const encodeVote = (vote: Vote): Uint8Array => VoteType.serialize({ ...spelledVote(vote), sig: vote.signature })

/** A vote, its signature not yet checked; null unless these bytes are its only spelling. */
export function decodeVote(bytes: Uint8Array): Vote | null {
  const written = decodeExactly<WrittenVote>(VoteType, bytes)
  const shared = written === null ? null : readShared(written)
  return written === null || shared === null ? null : readVote(shared, written)
}

type WrittenQuorum = Shared & { readonly votes: OwnPart[] }

export const spelledQuorum = ({ kind, set, round, target, targetSlot, late, votes }: Quorum): WrittenQuorum => ({
  kind,
  set: BigInt(set),
  round: BigInt(round),
  target: fromHex(target, 32)!,
  targetSlot: BigInt(targetSlot),
  late: late ? 1 : 0,
  votes: votes.map(({ voter, lockRound, signature }) => ({
    voter: fromHex(voter, 32)!,
    lockRound: BigInt(lockRound),
    sig: signature,
  })),
})

export const encodeQuorum = (quorum: Quorum): Uint8Array => QuorumType.serialize(spelledQuorum(quorum))

/** A quorum, its votes counted by nobody yet; null unless these bytes are its only spelling. */
export function decodeQuorum(bytes: Uint8Array): Quorum | null {
  const written = decodeExactly<WrittenQuorum>(QuorumType, bytes)
  return written === null ? null : readQuorum(written)
}

export function readQuorum({ votes, ...written }: WrittenQuorum): Quorum | null {
  const shared = readShared(written)
  if (shared === null) return null
  const read = votes.flatMap((vote) => readVote(shared, vote) ?? [])
  return read.length === votes.length ? { ...shared, votes: read } : null
}

/** The quorum that a block records, by the keys of its set in their order. The block that holds it was checked. */
export function quorumOfCommit(commit: Commit, setKeys: readonly string[]): Quorum {
  const shared = readShared({ kind: PRECOMMIT, ...commit })!
  const voters = commit.voters.getTrueBitIndexes()
  const votes = voters.map((place, i) =>
    signedVote({ ...shared, lockRound: shared.round, voter: setKeys[place]! }, commit.sigs[i]!),
  )
  return { ...shared, votes }
}
