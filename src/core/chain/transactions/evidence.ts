import { ContainerType, ListCompositeType } from '@chainsafe/ssz'
import { equalBytes } from '../../bytes/bytes.ts'
import { findAccount, type Refusal, type Working, workingEpoch } from '../chainState.ts'
import { atStake, slash } from '../ledger.ts'
import { epochOf } from '../params.ts'
import { problem } from '../problems.ts'
import { PRECOMMIT, PREVOTE } from '../recordCommit.ts'
import { blockHash, headerMessage, voteMessage } from '../signing.ts'
import { eligibleIn, lotteryPlace } from '../snapshots.ts'
import { type Header, HeaderType, U8, type Vote, VoteType } from '../ssz.ts'
import { SlashType } from '../stateType.ts'
import { handler } from './handler.ts'

/** offence: 0 two blocks in a slot, 1 two votes in a round, 2 a broken lock (§3.7). */
export const EvidenceType = new ContainerType({
  offence: U8,
  headers: new ListCompositeType(HeaderType, 2),
  votes: new ListCompositeType(VoteType, 2),
})

/** What answers for an offence, in the order in which it is taken. */
export const SLASHED = ['bond', 'locked'] as const

interface Offence {
  readonly offender: Uint8Array
  readonly epoch: bigint
}

export const evidence = handler(EvidenceType, (working, reporter, { offence, headers, votes }) => {
  const shown =
    offence === 0 && headers.length === 2 && votes.length === 0
      ? twoBlocks(working, headers[0]!, headers[1]!)
      : (offence === 1 || offence === 2) && headers.length === 0 && votes.length === 2
        ? twoVotes(working, offence, votes[0]!, votes[1]!)
        : null
  if (shown === null) return problem('EVIDENCE', 'payload')
  const place = findAccount(working, shown.offender)
  if (place === -1) return problem('ACCOUNT', 'payload')
  const epoch = workingEpoch(working)
  if (shown.epoch > epoch) return problem('EVIDENCE', 'payload')
  if (shown.epoch + working.params.jailEpochs < epoch) return problem('OLD', 'payload')
  // One punishment answers for all that was done up to its epoch.
  if (shown.epoch < working.accounts.punished.get(place)) return problem('PUNISHED', 'payload')
  return punish(working, place, reporter)
})

function twoBlocks({ checks, genesisHash, params }: Working, a: Header, b: Header): Offence | null {
  const isPair = equalBytes(a.author, b.author) && a.slot === b.slot && !equalBytes(blockHash(a), blockHash(b))
  if (!isPair) return null
  const isSigned = (header: Header) => checks.signature(header.sig, headerMessage(genesisHash, header), header.author)
  return isSigned(a) && isSigned(b) ? { offender: a.author, epoch: epochOf(a.slot, params) } : null
}

function twoVotes({ checks, genesisHash, params }: Working, offence: number, a: Vote, b: Vote): Offence | null {
  if (!equalBytes(a.voter, b.voter) || a.set !== b.set) return null
  if (!(offence === 1 ? isDoubleVote(a, b) : isBrokenLock(a, b))) return null
  const isSigned = (vote: Vote) => checks.signature(vote.sig, voteMessage(genesisHash, vote), vote.voter)
  const round = a.round > b.round ? a.round : b.round
  return isSigned(a) && isSigned(b) ? { offender: a.voter, epoch: epochOf(round * params.roundSlots, params) } : null
}

const isDoubleVote = (a: Vote, b: Vote): boolean =>
  a.kind === b.kind && a.round === b.round && !equalBytes(a.target, b.target)

/** The precommit of a round, then a prevote of a later one that claims an older lock. */
const isBrokenLock = (a: Vote, b: Vote): boolean =>
  a.kind === PRECOMMIT && b.kind === PREVOTE && b.round > a.round && b.lockRound < a.round

/** 5 % at once; more 24 epochs later, when it is known how much weight did the same. */
function punish(working: Working, place: number, reporter: number): Refusal {
  const { accounts, state, params } = working
  const epoch = workingEpoch(working)
  const base = atStake(working, place, SLASHED)
  const weight = lotteryPlace(state, epoch + 2n, place)?.weight ?? 0n
  const { total } = eligibleIn(state, epoch + 2n)
  state.slashes.push(SlashType.toViewDU({ account: place, reporter, epoch, base, weight, total }))
  slash(working, place, SLASHED, firstPart(base), reporter)
  for (const column of ['drilled', 'trained', 'settled'] as const) accounts[column].set(place, 0n)
  accounts.jailedUntil.set(place, epoch + params.jailEpochs)
  accounts.punished.set(place, epoch + 1n)
  return null
}

export const firstPart = (base: bigint): bigint => (base * 5n) / 100n
