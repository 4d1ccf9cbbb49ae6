import { BitArray } from '@chainsafe/ssz'
import { fromHex } from '../../bytes/hex.ts'
import { PRECOMMIT, type PREVOTE } from '../recordCommit.ts'
import type { Commit, UnsignedVote } from '../ssz.ts'

/** A vote of a round (§3.6). */
export interface Vote {
  readonly kind: typeof PREVOTE | typeof PRECOMMIT
  readonly set: number
  readonly round: number
  /** Hash of the block, in hexadecimal. */
  readonly target: string
  readonly targetSlot: number
  /** Round of the voter's lock; in a precommit its own round. */
  readonly lockRound: number
  /** Whether the last final block is a week older than the round. */
  readonly late: boolean
  /** Public key in hexadecimal. */
  readonly voter: string
  readonly signature: Uint8Array
}

/** Votes of more than two thirds (more than half, if late) for one block: of prevotes a lock, of precommits a commit. */
export interface Quorum extends Pick<Vote, 'kind' | 'set' | 'round' | 'target' | 'targetSlot' | 'late'> {
  readonly votes: readonly Vote[]
}

/** A precommit with another lock round is signed over other bytes than those that a block holds its commit to (§3.6.10). */
export const isLockNamed = ({ kind, round, lockRound }: Pick<Vote, 'kind' | 'round' | 'lockRound'>): boolean =>
  kind !== PRECOMMIT || lockRound === round

/** Field by field: copies made by spreading have a shape each, and votes are read more than anything else. */
export const signedVote = (vote: Omit<Vote, 'signature'>, signature: Uint8Array): Vote => ({
  kind: vote.kind,
  set: vote.set,
  round: vote.round,
  target: vote.target,
  targetSlot: vote.targetSlot,
  lockRound: vote.lockRound,
  late: vote.late,
  voter: vote.voter,
  signature,
})

/** The vote as the chain spells and signs it. */
export const spelledVote = (vote: Omit<Vote, 'signature'>): UnsignedVote => ({
  kind: vote.kind,
  set: BigInt(vote.set),
  round: BigInt(vote.round),
  target: fromHex(vote.target, 32)!,
  targetSlot: BigInt(vote.targetSlot),
  lockRound: BigInt(vote.lockRound),
  late: vote.late ? 1 : 0,
  voter: fromHex(vote.voter, 32)!,
})

/** The commit as a block records it: a bit for each voter of the set, in the order of the set, and their signatures. */
export function spelledCommit(quorum: Quorum, setKeys: readonly string[]): Commit {
  const signatures = new Map(quorum.votes.map(({ voter, signature }) => [voter, signature]))
  return {
    set: BigInt(quorum.set),
    round: BigInt(quorum.round),
    target: fromHex(quorum.target, 32)!,
    targetSlot: BigInt(quorum.targetSlot),
    late: quorum.late ? 1 : 0,
    voters: BitArray.fromBoolArray(setKeys.map((key) => signatures.has(key))),
    sigs: setKeys.flatMap((key) => signatures.get(key) ?? []),
  }
}

/** The offence (§3.7) that two signed votes of one voter prove, in either order; null if both can be honest. */
export function voteOffence(a: Vote, b: Vote): 'equivocation' | 'brokenLock' | null {
  if (a.voter !== b.voter || a.set !== b.set) return null
  if (a.kind === b.kind) return a.round === b.round && a.target !== b.target ? 'equivocation' : null
  const [precommit, prevote] = a.kind === PRECOMMIT ? [a, b] : [b, a]
  // Who precommitted in a round knows its quorum of prevotes, so its lock is never of an earlier round again.
  return prevote.round > precommit.round && prevote.lockRound < precommit.round ? 'brokenLock' : null
}
