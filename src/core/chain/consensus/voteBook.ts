import { PRECOMMIT, PREVOTE } from '../recordCommit.ts'
import type { Voters } from './epochView.ts'
import { isLockNamed, type Quorum, type Vote, voteOffence } from './vote.ts'

/** Two votes that together prove an offence. */
export type VotePair = readonly [Vote, Vote]

/** Votes for one block in one round. */
interface Tally {
  readonly target: string
  readonly targetSlot: number
  readonly late: boolean
  /** In floating point; the exact sum is made when it comes near a quorum. */
  weight: number
  /** 1 for each voter that is counted. */
  readonly counted: Uint8Array
  readonly votes: Vote[]
  isQuorum: boolean
}

/** What a new vote led to. */
export interface Counted {
  readonly quorum: Quorum | null
  readonly offence: VotePair | null
}

const NOTHING: Counted = { quorum: null, offence: null }
/** Far below 1 for the rounding of a thousand sums, far above it for all else. */
const NEARLY = 1 - 2 ** -30
const NONE: readonly Vote[] = []

/** How many different votes of one voter, kind and round are looked at: two prove the offence, more prove nothing new. */
const MOST_OF_A_VOTER = 2

const keyOf = (round: number, kind: number): number => 2 * round + kind

/** Counts the votes of one set. */
export class VoteBook {
  /** Tallies by round and kind. */
  private readonly tallies = new Map<number, Tally[]>()
  /** The list that was asked for last, by kind: nearly always the one that is asked for next. */
  private readonly lastKey: [number, number] = [-1, -1]
  private readonly lastTallies: [Tally[], Tally[]] = [[], []]
  /** The rounds of the last prevote and the last precommit of each voter, -1 before the first. */
  private readonly lastRounds: Int32Array
  /** Votes of rounds that are forgotten, where a voter has given no later one of the kind. */
  private readonly older: readonly [Map<string, Vote>, Map<string, Vote>] = [new Map(), new Map()]
  readonly voters: Voters

  constructor(voters: Voters) {
    this.voters = voters
    this.lastRounds = new Int32Array(2 * voters.keys.length).fill(-1)
  }

  /** A vote whose signature is right. One that was counted before changes nothing. */
  add(vote: Vote): Counted {
    const place = this.voters.places.get(vote.voter)
    if (place === undefined || !isLockNamed(vote)) return NOTHING
    const tallies = this.talliesOf(vote)
    const first = tallies[0]
    const known = first !== undefined && isFor(first, vote) ? first : tallies.find((each) => isFor(each, vote))
    if (known !== undefined && known.counted[place] === 1) return NOTHING
    const others = tallies.length === (known ? 1 : 0) ? NONE : votesAt(tallies, place, vote.voter)
    if (others.length >= MOST_OF_A_VOTER) return NOTHING
    const tally = known ?? this.newTally(tallies, vote)
    tally.counted[place] = 1
    tally.votes.push(vote)
    tally.weight += this.voters.nearly.weights[place]!
    const offence = this.offenceOf(vote, place, others)
    const isNew = !tally.isQuorum && this.isQuorum(tally)
    if (isNew) tally.isQuorum = true
    return isNew || offence !== null
      ? { quorum: isNew ? inOrder(quorumFrom(vote, tally), this.voters) : null, offence }
      : NOTHING
  }

  /** Forgets rounds before this one, but for the last votes of a voter: they can still prove an offence. */
  prune(round: number): void {
    for (const [key, tallies] of this.tallies) {
      if (key >= keyOf(round, PREVOTE)) continue
      this.tallies.delete(key)
      this.keepLast(key >> 1, key & 1, tallies)
    }
  }

  private keepLast(round: number, kind: number, tallies: readonly Tally[]): void {
    for (let place = 0; place < this.voters.keys.length; place++) {
      if (this.lastRounds[2 * place + kind] !== round) continue
      const voter = this.voters.keys[place]!
      this.older[kind]!.set(voter, votesAt(tallies, place, voter)[0]!)
    }
  }

  private isQuorum(tally: Tally): boolean {
    const { quorum, lateQuorum } = this.voters.nearly
    if (tally.weight < NEARLY * (tally.late ? lateQuorum : quorum)) return false
    const weight = this.voters.weights.reduce((sum, each, place) => (tally.counted[place] === 1 ? sum + each : sum), 0n)
    return weight >= neededOf(this.voters, tally)
  }

  private talliesOf({ kind, round }: Vote): Tally[] {
    const key = keyOf(round, kind)
    if (this.lastKey[kind] === key) return this.lastTallies[kind]
    const tallies = this.tallies.get(key) ?? []
    this.tallies.set(key, tallies)
    this.lastKey[kind] = key
    this.lastTallies[kind] = tallies
    return tallies
  }

  private newTally(tallies: Tally[], { target, targetSlot, late }: Vote): Tally {
    const counted = new Uint8Array(this.voters.keys.length)
    const tally: Tally = { target, targetSlot, late, weight: 0, counted, votes: [], isQuorum: false }
    tallies.push(tally)
    return tally
  }

  private offenceOf(vote: Vote, place: number, others: readonly Vote[]): VotePair | null {
    const at = 2 * place + vote.kind
    if (this.lastRounds[at]! < vote.round) this.lastRounds[at] = vote.round
    const opposite = this.mayBreakLock(vote, place) ? this.lastOpposite(vote, place) : undefined
    if (opposite !== undefined && voteOffence(vote, opposite) !== null) return [opposite, vote]
    const proof = others === NONE ? undefined : others.find((other) => voteOffence(vote, other) !== null)
    return proof === undefined ? null : [proof, vote]
  }

  /** Numbers alone rule it out for nearly every vote. */
  private mayBreakLock({ kind, round, lockRound }: Vote, place: number): boolean {
    if (kind === PRECOMMIT) return this.lastRounds[2 * place + PREVOTE]! > round
    const precommitted = this.lastRounds[2 * place + PRECOMMIT]!
    return round > precommitted && lockRound < precommitted
  }

  /** The last vote of the voter of the other kind: the first, if it gave several in that round. */
  private lastOpposite({ kind, voter }: Vote, place: number): Vote | undefined {
    const other = kind === PREVOTE ? PRECOMMIT : PREVOTE
    const tallies = this.tallies.get(keyOf(this.lastRounds[2 * place + other]!, other)) ?? []
    return votesAt(tallies, place, voter)[0] ?? this.older[other].get(voter)
  }
}

const votesAt = (tallies: readonly Tally[], place: number, voter: string): Vote[] =>
  tallies.flatMap(({ counted, votes }) => (counted[place] === 1 ? votes.find((vote) => vote.voter === voter)! : []))

const isFor = (tally: Tally, vote: Vote): boolean =>
  tally.target === vote.target && tally.late === vote.late && tally.targetSlot === vote.targetSlot

const neededOf = ({ quorum, lateQuorum }: Voters, { late }: { readonly late: boolean }): bigint =>
  late ? lateQuorum : quorum

/** Its votes as they are spelled: in the order of the set. */
export const inOrder = (quorum: Quorum, { places }: Voters): Quorum => ({
  ...quorum,
  votes: [...quorum.votes].sort((a, b) => places.get(a.voter)! - places.get(b.voter)!),
})

/** Whether a quorum that somebody sent has enough votes, in their order and each once. Their signatures are the caller's to check. */
export function isEnough(quorum: Quorum, voters: Voters): boolean {
  let [last, weight] = [-1, 0n]
  for (const vote of quorum.votes) {
    const place = voters.places.get(vote.voter)
    if (place === undefined || place <= last || !isOf(quorum, vote)) return false
    last = place
    weight += voters.weights[place]!
  }
  return weight >= neededOf(voters, quorum)
}

const isOf = (quorum: Quorum, vote: Vote): boolean =>
  vote.kind === quorum.kind &&
  vote.set === quorum.set &&
  vote.round === quorum.round &&
  vote.target === quorum.target &&
  vote.targetSlot === quorum.targetSlot &&
  vote.late === quorum.late &&
  isLockNamed(vote)

const quorumFrom = ({ kind, set, round }: Vote, { target, targetSlot, late, votes }: Tally): Quorum => ({
  kind,
  set,
  round,
  target,
  targetSlot,
  late,
  votes,
})
