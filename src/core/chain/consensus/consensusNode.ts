import { PRECOMMIT, PREVOTE } from '../recordCommit.ts'
import { ancestorAt, type ChainBlock, contains, firstAfter, firstAfterEpoch } from './chainBlock.ts'
import type { EpochView, Voters } from './epochView.ts'
import { ForkChoice } from './forkChoice.ts'
import { joinedAt } from './joinChain.ts'
import type { Quorum, Vote } from './vote.ts'
import { isEnough, VoteBook, type VotePair } from './voteBook.ts'

export interface FinalityRules {
  readonly epochSlots: number
  /** I: slots of a round. */
  readonly roundSlots: number
  /** How many slots before the round a prevote looks, at first. */
  readonly lag: number
  /** How many epochs F may lie behind before more than half is a quorum. */
  readonly lateEpochs: number
}

export interface ConsensusOptions {
  readonly rules: FinalityRules
  /** The genesis, or the last final block of a node that goes on. */
  readonly genesis: ChainBlock
  /** What the branch that ends in this block says of its epoch. Asked of the first block, and of each that begins an epoch. */
  viewOf(block: ChainBlock): Pick<EpochView, 'voters'>
  /** Key to vote with, in hexadecimal; null only watches. */
  readonly voter: string | null
  /** What the node knew before it was started anew on `genesis`. */
  readonly past?: Past
}

/** What a voter must not forget, and the commits that a branch may still have to record. */
export interface Past {
  /** The rounds of its last prevote and its last precommit. */
  readonly voted: readonly [number, number]
  /** The prevotes behind its lock. */
  readonly lock: Quorum | null
  /** Of each set the last commit, by ascending sets, with the voters of the set. */
  readonly commits: readonly Handover[]
}

interface Handover {
  readonly voters: Voters
  readonly commit: Quorum
}

/** What the node wants done. Votes are put on disk before they are signed and sent. */
export type Action =
  | { readonly kind: 'vote'; readonly vote: Omit<Vote, 'signature'> }
  | { readonly kind: 'quorum'; readonly quorum: Quorum }
  | { readonly kind: 'final'; readonly block: ChainBlock; readonly commit: Quorum }
  | { readonly kind: 'offence'; readonly proof: VotePair }
  /** Something came that can only be understood with blocks or commits that are not here: ask who sent it. */
  | { readonly kind: 'behind' }
  /** Who sent this does not know what is final here. */
  | { readonly kind: 'ahead' }
  /** Two commits contradict each other: over a third has lied. The node votes no more; people must give a checkpoint. */
  | { readonly kind: 'conflict'; readonly commits: readonly [Quorum, Quorum] }

type Actions = readonly Action[]
const NOTHING: Actions = []
const BEHIND: Actions = [{ kind: 'behind' }]
const AHEAD: Actions = [{ kind: 'ahead' }]

export const LONGEST_LAG = 64
/** Votes of later sets that are kept until the set is in charge here. */
const MOST_EARLY_VOTES = 8192
/** Sets whose last commit is kept: who is further behind reads commits in blocks. */
const MOST_HANDOVERS = 256

interface Lock {
  readonly round: number
  readonly block: ChainBlock
  /** The prevotes behind it; null at round 0, or if only the commit is known. */
  readonly quorum: Quorum | null
}

/**
 * Fork choice and finality of one node (§3.5, §3.6): events in, actions out. It has no clock, no keys and no network, and
 * the same events lead to the same actions. Blocks, votes and quorums that are handed in were checked: signatures, VRF.
 */
export class ConsensusNode {
  private readonly options: ConsensusOptions
  private readonly known = new Map<string, ChainBlock>()
  private readonly choice: ForkChoice
  private book: VoteBook
  private lock: Lock
  private lastFinal: ChainBlock
  private lastCommit: Quorum | null = null
  /** For each set that has handed over: its voters and the commit of E. */
  private readonly handovers = new Map<number, Handover>()
  private readonly waiting = new Map<string, Quorum>()
  private early: Vote[] = []
  private readonly voted: [number, number]
  private round = 0
  private stalledRounds = 0
  private finalAtRound: ChainBlock
  private conflict: readonly [Quorum, Quorum] | null = null

  constructor(options: ConsensusOptions) {
    this.options = options
    const { genesis, viewOf } = options
    this.known.set(genesis.id, genesis)
    this.choice = new ForkChoice(genesis)
    this.lastFinal = genesis
    this.finalAtRound = genesis
    this.book = new VoteBook(viewOf(genesis).voters)
    this.lock = { round: 0, block: genesis, quorum: null }
    this.voted = [0, 0]
    if (options.past !== undefined) this.remember(options.past)
  }

  /** Where a lock was on the last final block or before it, its round still counts: a voter that forgets it breaks it. */
  private remember({ voted, lock, commits }: Past): void {
    this.voted[PREVOTE] = voted[PREVOTE]
    this.voted[PRECOMMIT] = voted[PRECOMMIT]
    const { epoch, slot } = this.lastFinal
    for (const handover of commits) if (handover.commit.set < epoch) this.handovers.set(handover.commit.set, handover)
    this.lastCommit = commits.at(-1)?.commit ?? null
    const known = [this.lastCommit, lock].filter((each) => each?.set === epoch && each.targetSlot <= slot)
    const round = Math.max(0, ...known.map((each) => each!.round))
    this.lock = { round, block: this.lastFinal, quorum: null }
  }

  /** The tip to build on. */
  get head(): ChainBlock {
    return this.choice.best
  }

  /** F. */
  get final(): ChainBlock {
    return this.lastFinal
  }

  /** The last commit: the next block records it. */
  get commit(): Quorum | null {
    return this.lastCommit
  }

  get isHalted(): boolean {
    return this.conflict !== null
  }

  /** What must be on disk before a vote is sent, and lets a node go on. */
  get past(): Past {
    const inCharge = this.lastCommit?.set === this.lastFinal.epoch ? this.lastCommit : null
    const last = inCharge === null ? [] : [{ voters: this.book.voters, commit: inCharge }]
    const [prevoted, precommitted] = this.voted
    return {
      voted: [prevoted, precommitted],
      lock: this.lock.quorum,
      commits: [...this.handovers.values(), ...last],
    }
  }

  /** The voters of the set in charge. */
  get voters(): Voters {
    return this.book.voters
  }

  /** The block that the best branch goes through: F, the lock, or what a newcomer has joined. */
  get through(): ChainBlock {
    return this.choice.through
  }

  /** For a node without a past of its own: of branches that forked long ago it follows the densest (§3.5.6). */
  join(): void {
    const { epochSlots } = this.options.rules
    this.choice.anchorAt(joinedAt(this.choice.tipsOn(this.lock.block), epochSlots) ?? this.lock.block)
  }

  /** F, or the block after it that voters have locked. */
  get lockedOn(): ChainBlock {
    return this.lock.block
  }

  /** Whether a quorum would change anything here: only then are its signatures worth a check. */
  worthOf(quorum: Quorum): 'news' | 'old' | 'wrong' {
    const { epoch } = this.lastFinal
    const voters = quorum.set === epoch ? this.book.voters : this.handovers.get(quorum.set)?.voters
    if (voters === undefined || this.isOld(quorum)) return 'old'
    return quorum.late === this.isLate(quorum) && isEnough(quorum, voters) ? 'news' : 'wrong'
  }

  private isOld(quorum: Quorum): boolean {
    const { kind, set, round, target, targetSlot } = quorum
    const waits = this.waiting.get(target)
    if (waits !== undefined && (waits.kind > kind || (waits.kind === kind && waits.round >= round))) return true
    if (kind === PRECOMMIT) return this.isFinal(quorum)
    return set < this.lastFinal.epoch || round <= this.lock.round || targetSlot <= this.lastFinal.slot
  }

  has(id: string): boolean {
    return this.known.has(id)
  }

  /** What a node needs whose last final block is of this set: the commits of every E since, the last commit, the lock. */
  quorumsSince(set: number): Quorum[] {
    const passed = [...this.handovers].filter(([number]) => number >= set).map(([, { commit }]) => commit)
    const last = this.lastCommit !== null && this.lastCommit !== passed.at(-1) ? [this.lastCommit] : []
    return [...passed, ...last, ...(this.lock.quorum === null ? [] : [this.lock.quorum])]
  }

  /** The clock: a slot begins. In the first slot of a round a prevote is due. */
  onSlot(slot: number): Actions {
    const { roundSlots } = this.options.rules
    if (slot % roundSlots !== 0) return NOTHING
    this.round = slot / roundSlots
    this.book.prune(this.round - 2)
    this.stalledRounds = this.lastFinal === this.finalAtRound ? this.stalledRounds + 1 : 0
    this.finalAtRound = this.lastFinal
    const actions: Action[] = []
    if (this.stalledRounds > 1 && this.lock.quorum !== null) actions.push({ kind: 'quorum', quorum: this.lock.quorum })
    return [...actions, ...this.prevote()]
  }

  /** A valid block. Its parent must be known here: otherwise the sender has more to tell. */
  onBlock(block: ChainBlock): Actions {
    if (this.known.has(block.id)) return NOTHING
    if (block.parent === null || !contains(block, this.lastFinal)) return NOTHING
    if (!this.known.has(block.parent.id)) return BEHIND
    this.known.set(block.id, block)
    this.choice.add(block)
    const waited = this.waiting.get(block.id)
    if (waited === undefined) return NOTHING
    this.waiting.delete(block.id)
    return this.onQuorum(waited)
  }

  /** A vote of the set in charge; later ones wait for their set. Its round is now, the last or the next. */
  onVote(vote: Vote): Actions {
    const set = this.lastFinal.epoch
    if (vote.set < set) return AHEAD
    if (Math.abs(vote.round - this.round) > 1) return NOTHING
    if (vote.set > set) {
      if (this.early.length < MOST_EARLY_VOTES) this.early.push(vote)
      return BEHIND
    }
    if (vote.late !== this.isLate(vote)) return NOTHING
    const { quorum, offence } = this.book.add(vote)
    if (quorum === null && offence === null) return NOTHING
    const caught: Actions = offence === null ? NOTHING : [{ kind: 'offence', proof: offence }]
    return quorum === null ? caught : [...caught, ...this.accept(quorum)]
  }

  /** A quorum that somebody forwarded. */
  onQuorum(quorum: Quorum): Actions {
    const set = this.lastFinal.epoch
    if (quorum.set > set) return BEHIND
    if (this.worthOf(quorum) !== 'news') return NOTHING
    // Of a set that has handed over nothing but a contradiction is news.
    return quorum.set < set ? this.halt(quorum) : this.accept(quorum)
  }

  private isFinal({ target, targetSlot }: Quorum): boolean {
    if (targetSlot > this.lastFinal.slot) return false
    const there = ancestorAt(this.lastFinal, targetSlot)
    // Before the block that the node was started on nothing is known to compare with.
    return there.id === target || there.slot > targetSlot
  }

  /** A quorum of the set in charge that is enough. */
  private accept(quorum: Quorum): Actions {
    if (quorum.targetSlot <= this.lastFinal.slot)
      return quorum.kind === PREVOTE || this.isFinal(quorum) ? NOTHING : this.halt(quorum)
    const block = this.known.get(quorum.target)
    if (block === undefined) {
      this.waiting.set(quorum.target, quorum)
      return BEHIND
    }
    if (block.slot !== quorum.targetSlot || !this.mayFinalise(block)) return NOTHING
    if (!contains(block, this.lastFinal)) return quorum.kind === PREVOTE ? NOTHING : this.halt(quorum)
    return quorum.kind === PREVOTE ? this.lockOn(block, quorum) : this.finalise(block, quorum)
  }

  /** Blocks of its own epoch, and the first of a later one: no further. */
  private mayFinalise(block: ChainBlock): boolean {
    return block.epoch === this.lastFinal.epoch || (block.parent?.epoch ?? 0) <= this.lastFinal.epoch
  }

  private lockOn(block: ChainBlock, quorum: Quorum): Actions {
    if (quorum.round <= this.lock.round) return NOTHING
    this.lock = { round: quorum.round, block, quorum }
    this.choice.anchorAt(block)
    if (quorum.round !== this.round) return NOTHING
    return this.cast({ kind: PRECOMMIT, block, lockRound: quorum.round })
  }

  private finalise(block: ChainBlock, commit: Quorum): Actions {
    const before = this.lastFinal
    this.lastFinal = block
    this.lastCommit = commit
    if (block.epoch > before.epoch) this.handOver(before.epoch, block, commit)
    else if (this.lock.round < commit.round || !contains(this.lock.block, block))
      this.lock = { round: commit.round, block, quorum: null }
    this.choice.anchorAt(this.lock.block)
    this.choice.prune(block)
    this.forgetBefore(block)
    const early = this.early
    this.early = []
    return [{ kind: 'final', block, commit }, ...early.flatMap((vote) => this.onVote(vote))]
  }

  /** The set of the epoch of E takes over, with no lock but E. */
  private handOver(set: number, block: ChainBlock, commit: Quorum): void {
    this.handovers.set(set, { voters: this.book.voters, commit })
    if (this.handovers.size > MOST_HANDOVERS) this.handovers.delete(this.handovers.keys().next().value!)
    this.book = new VoteBook(this.options.viewOf(block).voters)
    this.lock = { round: 0, block, quorum: null }
    this.waiting.clear()
  }

  /** Blocks come roughly in the order of slots, so the old ones stand first. */
  private forgetBefore({ slot }: ChainBlock): void {
    for (const [id, block] of this.known) {
      if (block.slot >= slot) return
      this.known.delete(id)
    }
  }

  private halt(quorum: Quorum): Actions {
    if (this.conflict !== null || this.lastCommit === null) return NOTHING
    this.conflict = [this.lastCommit, quorum]
    return [{ kind: 'conflict', commits: this.conflict }]
  }

  /** Rule 3: the block of the best chain some slots ago, after F, not beyond E, at least the lock. */
  private prevote(): Actions {
    const { roundSlots, lag } = this.options.rules
    const back = Math.min(LONGEST_LAG, lag * 2 ** Math.min(this.stalledRounds, 16))
    const now = this.round * roundSlots
    const far = ancestorAt(this.head, now - back)
    // Looking back beyond F would say nothing for as long as the lag is: the first block after it is the surest.
    const old = far.slot > this.lastFinal.slot ? far : ancestorAt(this.head, Math.min(now - lag, this.firstSlot()))
    const end = firstAfterEpoch(this.head, this.lastFinal.epoch)
    const near = end !== null && end.slot < old.slot ? end : old
    const block = near.slot > this.lock.block.slot ? near : this.lock.block
    // F is final already: there is nothing to say.
    return block === this.lastFinal ? NOTHING : this.cast({ kind: PREVOTE, block, lockRound: this.lock.round })
  }

  /** The slot of the first block after F on the best chain; that of F if there is none. */
  private firstSlot(): number {
    const { head, lastFinal } = this
    return head === lastFinal ? lastFinal.slot : firstAfter(head, lastFinal.slot).slot
  }

  /** Rule 6: one vote of a kind and round, none in a round below one voted in. */
  private cast({ kind, block, lockRound }: { kind: Vote['kind']; block: ChainBlock; lockRound: number }): Actions {
    const { voter } = this.options
    const isVoter = voter !== null && this.book.voters.places.has(voter)
    if (!isVoter || this.isHalted || this.round <= this.voted[kind] || this.round < Math.max(...this.voted))
      return NOTHING
    this.voted[kind] = this.round
    const set = this.lastFinal.epoch
    const { round } = this
    const late = this.isLate({ set, round })
    const { id: target, slot: targetSlot } = block
    return [{ kind: 'vote', vote: { kind, set, round, target, targetSlot, lockRound, late, voter } }]
  }

  /** Whether F is a week older than the round: F is of the epoch that the set is named after, so all nodes agree. */
  private isLate({ set, round }: Pick<Vote, 'set' | 'round'>): boolean {
    const { roundSlots, epochSlots, lateEpochs } = this.options.rules
    return Math.floor((round * roundSlots) / epochSlots) - set >= lateEpochs
  }
}

/** A block at most one slot ahead of the clock waits for it; one further ahead is dropped (§3.2). */
export function whenDue(slot: number, now: number): 'now' | 'wait' | 'drop' {
  if (slot <= now) return 'now'
  return slot === now + 1 ? 'wait' : 'drop'
}
