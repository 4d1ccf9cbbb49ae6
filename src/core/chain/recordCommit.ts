import { equalBytes } from '../bytes/bytes.ts'
import type { Refusal, Working } from './chainState.ts'
import { reward } from './ledger.ts'
import { type ChainParams, epochOf } from './params.ts'
import { problem } from './problems.ts'
import { voteMessage } from './signing.ts'
import type { Commit } from './ssz.ts'
import { BlockRefType, type StateView } from './stateType.ts'

/** Kinds of votes. */
export const PREVOTE = 0
export const PRECOMMIT = 1

/** Whether a quorum of this round needs only a half: the last final block is a week older than the round. */
export const isLateRound = (round: bigint, finalSlot: bigint, params: ChainParams): boolean =>
  epochOf(round * params.roundSlots, params) >= epochOf(finalSlot, params) + params.lateEpochs

/** The least weight that decides, of a total. */
export const quorumOf = (total: bigint, late: boolean): bigint => (late ? total / 2n : (2n * total) / 3n) + 1n

/**
 * Records that a block of this branch is final (§3.6), and pays the voters (§3.7). The set in charge is that of the last
 * recorded final block; it decides about its own epoch and the first block after it.
 */
export function recordCommit(working: Working, commit: Commit, author: number): Refusal {
  const { state, params } = working
  if (commit.set !== epochOf(state.final.slot, params)) return problem('COMMIT_SET', 'set')
  const at = targetOf(state, commit, params)
  if (at === -1) return problem('COMMIT_TARGET', 'target')
  // Half would be a quorum at once, if its round could be named a week ahead.
  if (commit.round > working.slot / params.roundSlots + 1n) return problem('COMMIT_LATE', 'round')
  const late = isLateRound(commit.round, state.final.slot, params)
  if (commit.late !== (late ? 1 : 0)) return problem('COMMIT_LATE', 'late')
  const set = state.sets.getReadonly(0).toValue()
  const included = commit.voters.bitLen === set.voters.length ? commit.voters.getTrueBitIndexes() : []
  if (included.length === 0 || included.length !== commit.sigs.length) return problem('COMMIT_VOTERS', 'voters')
  const weight = included.reduce((sum, index) => sum + set.voters[index]!.weight, 0n)
  if (weight < quorumOf(set.total, late)) return problem('COMMIT_QUORUM', 'voters')
  const places = included.map((index) => set.voters[index]!.account)
  for (const [index, place] of places.entries())
    if (!isSigned(working, commit, place, commit.sigs[index]!)) return problem('SIGNATURE', `sigs[${index}]`)
  const part = state.votesDue
  for (const index of included) {
    const voter = set.voters[index]!
    reward(working, voter.account, (part * 7n * voter.weight) / (8n * set.total))
  }
  reward(working, author, (part * weight) / (8n * set.total))
  state.votesDue = 0n
  moveFinal(state, commit, at, params)
  return null
}

/** The place of the target among the blocks since the last final one, if this set may decide about it; else -1. */
function targetOf(state: StateView, { set, target, targetSlot }: Commit, params: ChainParams): number {
  const { blocks } = state
  // Slots ascend, and the target is one of the last.
  let at = blocks.length - 1
  while (at >= 0 && blocks.getReadonly(at).slot > targetSlot) at--
  const found = at === -1 ? null : blocks.getReadonly(at)
  if (found?.slot !== targetSlot || targetSlot <= state.final.slot || !equalBytes(found.hash, target)) return -1
  const isOfSet = epochOf(targetSlot, params) === set
  return isOfSet || (at > 0 && epochOf(blocks.getReadonly(at - 1).slot, params) === set) ? at : -1
}

function isSigned({ checks, genesisHash, accounts }: Working, commit: Commit, place: number, sig: Uint8Array): boolean {
  const { set, round, target, targetSlot, late } = commit
  const voter = accounts.key.get(place)
  const vote = { kind: PRECOMMIT, set, round, target, targetSlot, lockRound: round, late, voter }
  return checks.signature(sig, voteMessage(genesisHash, vote), voter)
}

/** Blocks and sets before the final block are forgotten. */
function moveFinal(state: StateView, { target, targetSlot }: Commit, at: number, params: ChainParams): void {
  const passed = Number(epochOf(targetSlot, params) - epochOf(state.final.slot, params))
  state.final = BlockRefType.toViewDU({ slot: targetSlot, hash: target })
  // Shares the nodes of what stays, with their hashes.
  state.blocks = state.blocks.sliceFrom(at)
  if (passed > 0) state.sets = state.sets.sliceFrom(passed)
}
