import { toHex } from '../../core/bytes/hex.ts'
import type { ChainState } from '../../core/chain/chainState.ts'
import { type ChainBlock, childOf, rootBlock } from '../../core/chain/consensus/chainBlock.ts'
import { type Action, ConsensusNode, type FinalityRules, type Past } from '../../core/chain/consensus/consensusNode.ts'
import { type Voters, votersFrom } from '../../core/chain/consensus/epochView.ts'
import type { Quorum, Vote } from '../../core/chain/consensus/vote.ts'
import { inOrder } from '../../core/chain/consensus/voteBook.ts'
import type { ChainParams } from '../../core/chain/params.ts'
import { votersOf } from '../../core/chain/snapshots.ts'
import { decodeQuorum, encodeQuorum, quorumOfCommit } from '../../core/chain/wire/messages.ts'
import { decodeVoterNote, encodeVoterNote } from '../../core/chain/wire/pastNote.ts'
import type { ChainStore, StoredBlock } from '../../ports/chainStore.ts'
import { fault } from './faults.ts'
import type { Import, LocalChain } from './localChain.ts'

const VOTES = 'votes'
const commitNote = (set: number) => `commit/${set}`
/** Blocks that consensus may carry behind the last final one before it starts anew on that one: memory stays flat. */
const MOST_CARRIED = 2_048

type Added = Extract<Import, { kind: 'added' }>

interface Options {
  readonly rules: FinalityRules
  readonly voter: string | null
}

/** Fork choice and finality of a node (`core/chain/consensus`), on the blocks of its chain and from its notes on disk. */
export class Finality {
  private readonly options: Options
  private readonly blocks = new Map<string, ChainBlock>()
  /** The voters of the set of its epoch, by the first block of each epoch. */
  private readonly voters = new Map<string, Voters>()
  private consensus: ConsensusNode

  private constructor(options: Options, root: ChainBlock, voters: Voters, past: Past | undefined) {
    this.options = options
    this.voters.set(root.id, voters)
    this.consensus = this.begin(root, past)
  }

  /** Goes on from what the store holds. */
  static async open(chain: LocalChain, store: ChainStore, params: ChainParams, voter: string | null) {
    const rules = rulesOf(params)
    const root = rootBlock(chain.final, rules.epochSlots)
    const voters = readVoters(await chain.stateAfter(root.id), root.epoch)
    const past = await readPast(chain, store, root.epoch)
    const finality = new Finality({ rules, voter }, root, voters, past)
    for (const facts of await chain.above()) {
      if (!finality.blocks.has(facts.parent)) continue
      const block = finality.place(facts)
      if (block.epochStart === block)
        finality.voters.set(block.id, readVoters(await chain.stateAfter(block.id), block.epoch))
      finality.consensus.onBlock(block)
    }
    if (past.lock !== null) finality.consensus.onQuorum(inOrder(past.lock, voters))
    return finality
  }

  private begin(root: ChainBlock, past: Past | undefined): ConsensusNode {
    const { rules, voter } = this.options
    this.blocks.set(root.id, root)
    const viewOf = ({ epochStart }: ChainBlock) => ({ voters: this.voters.get(epochStart.id)! })
    return new ConsensusNode({ rules, genesis: root, viewOf, voter, ...(past && { past }) })
  }

  get head(): ChainBlock {
    return this.consensus.head
  }

  get final(): ChainBlock {
    return this.consensus.final
  }

  /** What the best branch goes through. */
  get through(): ChainBlock {
    return this.consensus.through
  }

  /** Of branches that forked long ago the densest is followed, for a node without a past of its own. */
  join(): void {
    this.consensus.join()
  }

  get commit(): Quorum | null {
    return this.consensus.commit
  }

  /** Commits that a block may have to record, the oldest first, and the lock. */
  quorumsSince(set: number): Quorum[] {
    return this.consensus.quorumsSince(set)
  }

  onSlot(slot: number): readonly Action[] {
    return this.consensus.onSlot(slot)
  }

  /** A block that the chain has taken, with the commit that it records. */
  onAdded({ facts, block: { body }, state }: Added): readonly Action[] {
    if (!this.blocks.has(facts.parent)) return []
    const block = this.place(facts)
    if (block.epochStart === block) this.voters.set(block.id, readVoters(state, block.epoch))
    const actions = this.consensus.onBlock(block)
    const [commit] = body.commit
    if (commit === undefined || Number(commit.set) !== this.final.epoch) return actions
    return [...actions, ...this.consensus.onQuorum(quorumOfCommit(commit, this.consensus.voters.keys))]
  }

  /** A vote whose signature was checked. */
  onVote(vote: Vote): readonly Action[] {
    return this.consensus.onVote(vote)
  }

  /** A quorum whose signatures were checked. */
  onQuorum(quorum: Quorum): readonly Action[] {
    return this.consensus.onQuorum(quorum)
  }

  worthOf(quorum: Quorum): ReturnType<ConsensusNode['worthOf']> {
    return this.consensus.worthOf(quorum)
  }

  /** Whether this key votes in the set; null where no branch here has come to that set. */
  isVoter(set: number, voter: string): boolean | null {
    if (set === this.final.epoch) return this.consensus.voters.places.has(voter)
    const known = [...this.voters].filter(([id]) => this.blocks.get(id)?.epoch === set)
    return known.length === 0 ? null : known.some(([, { places }]) => places.has(voter))
  }

  /** What must be on disk before a vote is sent. */
  voterNote(): Record<string, Uint8Array> {
    return { [VOTES]: encodeVoterNote(this.consensus.past) }
  }

  /** A commit that no block records yet. */
  commitNote(commit: Quorum): Record<string, Uint8Array> {
    return { [commitNote(commit.set)]: encodeQuorum(commit) }
  }

  /** After a block became final: what lies before it is forgotten. */
  forget(): void {
    const { final } = this
    for (const [id, { slot }] of this.blocks) if (slot < final.slot) this.blocks.delete(id)
    for (const id of this.voters.keys()) if (!this.blocks.has(id) && id !== final.epochStart.id) this.voters.delete(id)
    if (final.height > MOST_CARRIED) this.startAnew()
  }

  /** The same as after a restart: blocks before the last final one leave memory. */
  private startAnew(): void {
    const { past, voters, final, lockedOn } = this.consensus
    const above = [...this.blocks.values()].filter(({ id }) => id !== final.id)
    const { epochSlots } = this.options.rules
    this.blocks.clear()
    const root = rootBlock(final, epochSlots)
    this.voters.set(root.id, voters)
    this.consensus = this.begin(root, past)
    for (const old of above) {
      const parent = old.parent === null ? undefined : this.blocks.get(old.parent.id)
      if (parent === undefined) continue
      const block = childOf(parent, old, epochSlots)
      this.blocks.set(block.id, block)
      this.consensus.onBlock(block)
    }
    if (past.lock !== null && lockedOn.id !== final.id) this.consensus.onQuorum(past.lock)
    for (const id of this.voters.keys()) if (!this.blocks.has(id)) this.voters.delete(id)
  }

  private place(facts: StoredBlock): ChainBlock {
    const block = childOf(this.blocks.get(facts.parent)!, facts, this.options.rules.epochSlots)
    this.blocks.set(block.id, block)
    return block
  }
}

const rulesOf = (params: ChainParams): FinalityRules => ({
  epochSlots: Number(params.epochSlots),
  roundSlots: Number(params.roundSlots),
  lag: Number(params.lagSlots),
  lateEpochs: Number(params.lateEpochs),
})

function readVoters(state: ChainState, epoch: number): Voters {
  const { voters, total } = votersOf(state, BigInt(epoch))!
  const named = voters.map(({ key, weight }) => ({ key: toHex(key), weight }))
  return votersFrom(named, total)
}

/** The notes of a node that ran before. Its branch may still have to record the commits of earlier sets. */
async function readPast(chain: LocalChain, store: ChainStore, epoch: number): Promise<Past> {
  const bytes = await store.note(VOTES)
  const note = bytes === null ? NO_VOTES : decodeVoterNote(bytes)
  if (note === null) throw fault('CHAIN_NOTES_DAMAGED')
  const state = await chain.headState()
  const commits: Past['commits'][number][] = []
  for (let set = Number(state.view.final.slot / state.params.epochSlots); set <= epoch; set++) {
    const written = await store.note(commitNote(set))
    const commit = written === null ? null : decodeQuorum(written)
    if (commit === null || votersOf(state, BigInt(set)) === null) continue
    const voters = readVoters(state, set)
    // Notes of earlier releases have votes as they came.
    commits.push({ commit: inOrder(commit, voters), voters })
  }
  return { ...note, commits }
}

const NO_VOTES = { voted: [0, 0], lock: null } as const
