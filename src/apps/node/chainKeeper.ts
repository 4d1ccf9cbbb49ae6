import type { Signer } from '../../core/bytes/ed25519.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import type { ChainState, Checks } from '../../core/chain/chainState.ts'
import type { Action } from '../../core/chain/consensus/consensusNode.ts'
import { densitySlots } from '../../core/chain/consensus/joinChain.ts'
import { type Quorum, signedVote, spelledVote, type Vote } from '../../core/chain/consensus/vote.ts'
import type { VotePair } from '../../core/chain/consensus/voteBook.ts'
import type { Drawn, Lot } from '../../core/chain/envelopes.ts'
import { type Genesis, genesisHash } from '../../core/chain/genesisType.ts'
import { voteMessage } from '../../core/chain/signing.ts'
import type { ChainStore, ChainWrite, StoredBlock } from '../../ports/chainStore.ts'
import { fault } from './faults.ts'
import { Finality } from './finality.ts'
import { type Import, LocalChain } from './localChain.ts'
import { UNCHECKED } from './readRows.ts'

/** The note of a node without a past of its own. */
const JOINING = 'joining'

/** What a step leads to outside of the chain. */
export interface ChainOutlet {
  onHead(block: StoredBlock): void
  onFinal(block: StoredBlock): void
  /** A vote of this node: it is on disk, and others should have it. */
  sendVote(vote: Vote): void
  sendQuorum(quorum: Quorum): void
  /** Something came that can only be understood with blocks that are not here; ask who sent it, if somebody did. */
  onBehind(from: string | null): void
  onOffence(proof: VotePair): void
  /** Two final blocks exclude each other: nothing goes on. */
  onConflict(error: Error, blocks: readonly [string, string]): void
}

interface KeeperDeps {
  readonly genesis: Genesis
  readonly store: ChainStore
  readonly checks: Checks
  /** Who votes here; null only follows. */
  readonly signer: Signer | null
  readonly outlet: ChainOutlet
  readonly stateEvery?: number
  slotNow(): number
}

/** The blocks of a node and what is final of them: one step at a time, on disk before anybody is told. */
export class ChainKeeper {
  private readonly deps: KeeperDeps
  private readonly chain: LocalChain
  private readonly finality: Finality
  private readonly genesisHash: Uint8Array
  private readonly told: { head: string; final: string }
  private last: Promise<unknown> = Promise.resolve()
  private isHalted = false

  private constructor(deps: KeeperDeps, chain: LocalChain, finality: Finality) {
    this.deps = deps
    this.chain = chain
    this.finality = finality
    this.genesisHash = genesisHash(deps.genesis)
    this.told = { head: chain.head.id, final: chain.final.id }
  }

  /** Whether the chain that others show is chosen by its density: until what is final here is no older than that looks back. */
  private isJoining = false

  static async open(deps: KeeperDeps): Promise<ChainKeeper> {
    const chain = await LocalChain.open(deps)
    const voter = deps.signer === null ? null : toHex(deps.signer.publicKey)
    const finality = await Finality.open(chain, deps.store, deps.genesis.params, voter)
    const keeper = new ChainKeeper(deps, chain, finality)
    // Noted, so that a restart half-way does not make it one with a past.
    keeper.isJoining = (await deps.store.note(JOINING)) !== null || keeper.isOld(chain.head)
    await keeper.settle(keeper.isJoining ? { [JOINING]: Uint8Array.of(1) } : null)
    return keeper
  }

  get head(): StoredBlock {
    return this.chain.head
  }

  get final(): StoredBlock {
    return this.chain.final
  }

  headState(): Promise<ChainState> {
    return this.chain.headState()
  }

  finalState(): Promise<ChainState> {
    return this.chain.stateAfter(this.final.id)
  }

  /** The slot of the last block of an author that stands above the last final one, on any branch; -1 without one. */
  async lastSlotOf(author: string): Promise<number> {
    const own = (await this.chain.above()).filter((block) => block.author === author)
    return Math.max(-1, ...own.map(({ slot }) => slot))
  }

  /** The last commit: who is behind needs it. */
  get commit(): Quorum | null {
    return this.finality.commit
  }

  quorumsSince(set: number): Quorum[] {
    return this.finality.quorumsSince(set)
  }

  isVoter(set: number, voter: string): boolean | null {
    return this.finality.isVoter(set, voter)
  }

  /** The first slot of a round has begun. */
  onRound(slot: number): Promise<void> {
    return this.step(null, () => this.finality.onSlot(slot))
  }

  onVote(vote: Vote, from: string | null): Promise<void> {
    return this.step(from, () => this.finality.onVote(vote))
  }

  /** Taken where it changes something here: all that is cheaper than signatures is looked at before them. */
  async onQuorum(quorum: Quorum, from: string | null): Promise<'taken' | 'old' | 'wrong'> {
    const { finality, deps } = this
    if ((quorum.round - 1) * Number(deps.genesis.params.roundSlots) > deps.slotNow()) return 'old'
    if (quorum.set > finality.final.epoch) {
      deps.outlet.onBehind(from)
      return 'old'
    }
    const worth = finality.worthOf(quorum)
    if (worth !== 'news') return worth
    if (!quorum.votes.every((vote) => this.isSigned(vote))) return 'wrong'
    return await this.alone(async () => {
      // Another may have brought it meanwhile.
      if (this.isHalted || finality.worthOf(quorum) !== 'news') return 'old'
      await this.act(finality.onQuorum(quorum), from)
      return 'taken'
    })
  }

  isSigned(vote: Vote): boolean {
    const message = voteMessage(this.genesisHash, spelledVote(vote))
    return this.deps.checks.signature(vote.signature, message, fromHex(vote.voter, 32)!)
  }

  lotsOf(row: readonly Uint8Array[]): (Lot | null)[] {
    return this.chain.lotsOf(row)
  }

  /** Blocks in their order, up to the first that is not taken, with what was found out about them elsewhere. */
  async take(row: readonly Uint8Array[], { right, drawn } = UNCHECKED): Promise<readonly Import[]> {
    const results = right === 0 ? [] : await this.takeRow(row.slice(0, right), drawn)
    const isWhole = results.length === right && results.every(({ kind }) => kind === 'added' || kind === 'known')
    return isWhole && right < row.length ? [...results, ...(await this.takeRow(row.slice(right), null))] : results
  }

  private takeRow(row: readonly Uint8Array[], drawn: readonly Drawn[] | null): Promise<readonly Import[]> {
    return this.alone(async () => {
      if (this.isHalted) return []
      const results = await this.chain.importChain(row, drawn)
      const actions = results.flatMap((result) => (result.kind === 'added' ? this.finality.onAdded(result) : []))
      await this.act(actions, null)
      return results
    })
  }

  private step(from: string | null, work: () => readonly Action[]): Promise<void> {
    return this.alone(async () => {
      if (!this.isHalted) await this.act(work(), from)
    })
  }

  private async act(actions: readonly Action[], from: string | null): Promise<void> {
    const { outlet } = this.deps
    const votes: Omit<Vote, 'signature'>[] = []
    for (const action of actions) {
      if (action.kind === 'vote') votes.push(action.vote)
      else if (action.kind === 'quorum') outlet.sendQuorum(action.quorum)
      else if (action.kind === 'behind') outlet.onBehind(from)
      else if (action.kind === 'ahead' && this.commit !== null) outlet.sendQuorum(this.commit)
      else if (action.kind === 'offence') outlet.onOffence(action.proof)
      else if (action.kind === 'conflict') this.halt(action.commits)
    }
    await this.settle(votes.length > 0 ? this.finality.voterNote() : null)
    for (const vote of votes) await this.vote(vote)
  }

  /** The chain follows what consensus has decided: the last final block, the lock, and notes before any vote is sent. */
  private async settle(note: ChainWrite['notes'] | null): Promise<void> {
    const { finality, chain, told, deps } = this
    const { commit } = finality
    if (finality.final.id !== chain.final.id && finality.final.slot > chain.final.slot)
      await chain.finalise(finality.final.id, { ...note, ...(commit && finality.commitNote(commit)) })
    else if (note !== null) await chain.keepNotes(note ?? {})
    if (this.isJoining) await this.join()
    if (finality.head.id !== chain.head.id) await chain.anchorAt(finality.through.id)
    if (chain.final.id !== told.final) {
      told.final = chain.final.id
      finality.forget()
      deps.outlet.onFinal(chain.final)
    }
    if (chain.head.id !== told.head) {
      told.head = chain.head.id
      deps.outlet.onHead(chain.head)
    }
  }

  private async join(): Promise<void> {
    this.finality.join()
    if (this.isOld(this.chain.final)) return
    this.isJoining = false
    await this.chain.keepNotes({ [JOINING]: null })
  }

  private isOld({ slot }: StoredBlock): boolean {
    return slot + densitySlots(Number(this.deps.genesis.params.epochSlots)) < this.deps.slotNow()
  }

  private async vote(unsigned: Omit<Vote, 'signature'>): Promise<void> {
    const message = voteMessage(this.genesisHash, spelledVote(unsigned))
    const vote = signedVote(unsigned, this.deps.signer!.sign(message))
    this.deps.outlet.sendVote(vote)
    await this.act(this.finality.onVote(vote), null)
  }

  private halt([mine, other]: readonly [Quorum, Quorum]): void {
    this.isHalted = true
    this.deps.outlet.onConflict(fault('CHAIN_CONFLICT', { mine: mine.target, other: other.target }), [
      mine.target,
      other.target,
    ])
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work, work)
    this.last = turn.catch(() => {})
    return turn
  }
}
