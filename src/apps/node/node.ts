import { toHex } from '../../core/bytes/hex.ts'
import type { AccountKeys } from '../../core/chain/accountKeys.ts'
import type { ChainState, Checks } from '../../core/chain/chainState.ts'
import { showsChunks } from '../../core/chain/drilling/shownChunks.ts'
import { type Genesis, genesisHash } from '../../core/chain/genesisType.ts'
import { decodeTx, type Tx } from '../../core/chain/ssz.ts'
import { isBoxQuestion } from '../../core/chain/wire/boxQuestions.ts'
import { encodeQuorum, encodeVote } from '../../core/chain/wire/messages.ts'
import type { ChainEvent, ChainNode, NodeStatus, Submitted } from '../../ports/chainNode.ts'
import type { ChainStore, StoredBlock } from '../../ports/chainStore.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EnvelopeChecker } from '../../ports/envelopeChecker.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import type { Log } from '../../ports/log.ts'
import type { Network, NetworkHandlers } from '../../ports/network.ts'
import { answer, answerWithoutBox } from './answers.ts'
import { BlockProducer } from './blockProducer.ts'
import { ChainKeeper, type ChainOutlet } from './chainKeeper.ts'
import { ClockWatch } from './clockWatch.ts'
import { evidenceOfVotes, sendEvidence } from './evidence.ts'
import { Inbox } from './inbox.ts'
import { SlotClock } from './slotClock.ts'
import { Syncer } from './syncer.ts'
import { TxPool } from './txPool.ts'

export interface NodeDeps {
  readonly genesis: Genesis
  readonly store: ChainStore
  readonly checks: Checks
  readonly clock: Clock
  readonly log: Log
  /** The account that makes blocks and votes; null only follows. */
  readonly keys: AccountKeys | null
  /** Checks signatures on another thread while blocks are fetched; without it they are checked here. */
  readonly checker?: EnvelopeChecker
  /** A whole state is written every so many blocks; without it as often as the chain thinks fit. */
  readonly stateEvery?: number
  /** How many blocks before the last final one are kept; all of them without it. At least a week of them. */
  readonly keepBlocks?: number
  /** Computes elsewhere what transactions show of drilled work, before they are applied here. */
  prepare?(state: ChainState, txs: readonly Tx[]): Promise<void>
  /** Answers what validators ask about the box of this node. */
  answerBox?(data: Uint8Array): Promise<Uint8Array | null>
  /** Joins the others of this chain. */
  connect(handlers: NetworkHandlers): Promise<Network>
}

/** Rounds without a new final block after which peers are asked where they stand. */
const QUIET_ROUNDS = 2
/** Blocks are forgotten so many at a time. */
const PRUNE_EVERY = 256

/** A node of our chain: makes, checks and spreads blocks and votes, by the clock and by what others send. */
export class RunningNode implements ChainNode {
  readonly genesis: Genesis
  readonly genesisId: string
  private readonly deps: NodeDeps
  private readonly pool: TxPool
  private readonly listeners = new Set<(event: ChainEvent) => void>()
  private readonly slots: SlotClock
  private readonly clockWatch: ClockWatch
  private keeper!: ChainKeeper
  private producer!: BlockProducer
  private network!: Network
  private syncer!: Syncer
  private inbox!: Inbox
  private round = 0
  private finalRound = 0
  private nextWarning = 0
  private prunedBelow = 0
  private stopped: Error | null = null
  private running: Promise<void> = Promise.resolve()

  private constructor(deps: NodeDeps) {
    this.deps = deps
    this.genesis = deps.genesis
    this.genesisId = toHex(genesisHash(deps.genesis))
    this.pool = new TxPool(deps.checks)
    this.slots = new SlotClock(deps.clock, deps.genesis)
    this.clockWatch = new ClockWatch(this.slots.slotMs)
  }

  /** Goes on from the store, joins the network, and begins with the next slot. */
  static async start(deps: NodeDeps): Promise<RunningNode> {
    const node = new RunningNode(deps)
    const { genesis, store, checks, keys } = deps
    let begin = () => {}
    const ready = new Promise<void>((resolve) => {
      begin = resolve
    })
    const every = deps.stateEvery === undefined ? {} : { stateEvery: deps.stateEvery }
    const shared = { genesis, store, checks, outlet: node.outlet, slotNow: () => node.slot, ...every }
    node.keeper = await ChainKeeper.open({ ...shared, signer: keys?.signer ?? null })
    node.producer = await BlockProducer.open({ ...deps, keeper: node.keeper, pool: node.pool })
    node.network = await deps.connect({
      onMessage: (topic, data, from) => ready.then(() => node.inbox.take(topic, data, from)),
      onRequest: (data) =>
        isBoxQuestion(data) ? (deps.answerBox ?? answerWithoutBox)(data) : answer(data, node.answerSource),
      onPeer: (peer) => void ready.then(() => node.sync(peer)),
    })
    const { network } = node
    const [epochSlots, checker] = [Number(genesis.params.epochSlots), deps.checker ?? null]
    node.syncer = new Syncer({ network, target: node.syncTarget, epochSlots, clock: deps.clock, checker })
    node.inbox = new Inbox({ keeper: node.keeper, syncer: node.syncer, node })
    begin()
    node.running = node.followClock()
    return node
  }

  get head(): StoredBlock {
    return this.keeper.head
  }

  get final(): StoredBlock {
    return this.keeper.final
  }

  headState(): Promise<ChainState> {
    return this.keeper.headState()
  }

  finalState(): Promise<ChainState> {
    return this.keeper.finalState()
  }

  block(id: string): Promise<Uint8Array | null> {
    return this.deps.store.block(id)
  }

  facts(id: string): Promise<StoredBlock | null> {
    return this.deps.store.facts(id)
  }

  idAt(height: number): Promise<string | null> {
    return this.deps.store.idAt(height)
  }

  async submit(bytes: Uint8Array): Promise<Submitted> {
    const result = await this.offer(bytes)
    if (result.kind === 'taken') await this.network.publish('txs', bytes)
    return result
  }

  /** Puts a transaction into the pool, without telling others. */
  async offer(bytes: Uint8Array): Promise<Submitted> {
    const slot = BigInt(this.slot)
    const tx = this.deps.prepare === undefined ? null : decodeTx(bytes)
    if (tx !== null) await this.prepare([tx])
    return this.pool.add(bytes, await this.producer.stateFor(slot), slot)
  }

  /** Whatever is not prepared is computed when it is applied. */
  async prepare(txs: readonly Tx[]): Promise<void> {
    const { prepare } = this.deps
    if (prepare === undefined || !txs.some(showsChunks)) return
    await this.guarded(async () => await prepare(await this.producer.stateFor(BigInt(this.slot)), txs))
  }

  isWaiting(bytes: Uint8Array): boolean {
    return this.pool.has(bytes)
  }

  async nextNonce(account: Uint8Array): Promise<bigint> {
    // What is too late holds no place: whatever came after it would wait for it.
    this.pool.prune(await this.finalState(), BigInt(this.slot))
    return this.pool.nextNonce(account, await this.headState())
  }

  async checkpoint(): Promise<StoredBlock | null> {
    const { store } = this.deps
    const held = (await store.withState()).filter(({ height }) => height <= this.final.height)
    // One at a round height is kept for longer than the newest.
    const lasting = held.findLast(({ height }) => height % 1_000 === 0) ?? held.at(-1)
    return lasting === undefined ? null : await store.facts(lasting.id)
  }

  status(): NodeStatus {
    const { keys } = this.deps
    return {
      slot: this.slot,
      peers: this.network.peers().length,
      pooled: this.pool.size,
      isSyncing: this.syncer.isBehind,
      isHalted: this.stopped !== null,
      account: keys === null ? null : toHex(keys.signer.publicKey),
    }
  }

  subscribe(listener: (event: ChainEvent) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** Those whom a validator asks about their boxes. */
  get others(): Pick<Network, 'id' | 'peers' | 'request'> {
    return this.network
  }

  /** Where others reach this node. */
  get addresses(): readonly string[] {
    return this.network.addresses
  }

  /** By the clock. */
  get slot(): number {
    return this.slots.slot
  }

  /** Waits for a slot, or for the end of the node. */
  untilSlot(slot: number): Promise<void> {
    return this.slots.until(slot)
  }

  /** Resolves when the node was closed; rejects with the reason if it stopped by itself. */
  async ended(): Promise<void> {
    await this.running
    if (this.stopped !== null) throw this.stopped
  }

  async close(): Promise<void> {
    this.slots.stop()
    await this.running
    await this.network.close()
    // What is under way comes to its end before the store is closed.
    await this.keeper.headState()
  }

  private get answerSource() {
    const { genesisId, keeper } = this
    const status = () => ({ genesis: genesisId, head: keeper.head, final: keeper.final })
    return { store: this.deps.store, status, quorumsSince: (set: number) => keeper.quorumsSince(set) }
  }

  private get syncTarget() {
    const { keeper, genesisId, slots } = this
    return {
      genesisId,
      get slot() {
        return slots.slot
      },
      get head() {
        return keeper.head
      },
      get final() {
        return keeper.final
      },
      has: async (id: string) => (await this.facts(id)) !== null,
      lotsOf: (row: readonly Uint8Array[]) => keeper.lotsOf(row),
      take: (...[row, checked]: Parameters<ChainKeeper['take']>) => keeper.take(row, checked),
      onPeerSlot: (peer: string, slot: number) => this.watchClock(peer, slot),
      takeQuorum: async (...[quorum, from]: Parameters<ChainKeeper['onQuorum']>) => {
        if ((await keeper.onQuorum(quorum, null)) === 'wrong') this.network.report(from!)
      },
    }
  }

  private get outlet(): ChainOutlet {
    const { log } = this.deps
    const tell = (event: ChainEvent) => {
      for (const listener of this.listeners) listener(event)
    }
    return {
      onHead: (block) => tell({ kind: 'head', block }),
      onFinal: (block) => {
        this.finalRound = this.round
        tell({ kind: 'final', block })
        void this.prune()
      },
      sendVote: (vote) => this.background(() => this.network.publish('votes', encodeVote(vote))),
      sendQuorum: (quorum) => this.background(() => this.network.publish('commits', encodeQuorum(quorum))),
      onBehind: (from) => {
        if (from !== null) void this.sync(from)
      },
      onOffence: (proof) => {
        log.warn('a voter broke the rules', { voter: proof[0].voter, round: proof[0].round })
        void this.reportOffence(evidenceOfVotes(proof))
      },
      onConflict: (error, blocks) => {
        log.error(error.message)
        this.stopped = error
        tell({ kind: 'halted', blocks })
        this.slots.stop()
      },
    }
  }

  /** Slot after slot: a vote is due at the start of a round, a primary block at once, a secondary one a third later. */
  private async followClock(): Promise<void> {
    const { slots } = this
    for (let slot = this.slot + 1; !slots.isStopped; slot = Math.max(slot, this.slot) + 1) {
      await slots.until(slot)
      if (slots.isStopped) return
      await this.guarded(() => this.beginSlot(slot))
      await slots.until(slot + 1 / 3)
      if (!slots.isStopped) await this.guarded(() => this.offerSecondary(slot))
    }
  }

  /** A step that fails, such as on a full disk, is told and tried again with the next slot. */
  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const next = error instanceof TouchstoneError ? error.nextStep : 'It is tried again with the next slot.'
      this.deps.log.error('a step failed', { why, next })
    }
  }

  private async beginSlot(slot: number): Promise<void> {
    const roundSlots = Number(this.genesis.params.roundSlots)
    const round = Math.floor(slot / roundSlots)
    if (round > this.round) {
      this.round = round
      this.inbox.forgetBefore(slot, round)
      // Votes look back by a slot or more: they need not wait for the blocks of this one.
      await this.keeper.onRound(round * roundSlots)
      if (round - this.finalRound > QUIET_ROUNDS) for (const peer of this.network.peers()) void this.sync(peer)
    }
    await this.make(slot, true)
  }

  private async offerSecondary(slot: number): Promise<void> {
    if (this.inbox.lastPrimary < slot && this.head.slot < slot) await this.make(slot, false)
  }

  private async make(slot: number, isPrimary: boolean): Promise<void> {
    if (!this.syncer.isBehind) await this.producer.make(slot, isPrimary, this.network)
  }

  private async sync(peer: string): Promise<void> {
    await this.guarded(() => this.syncer.withPeer(peer))
  }

  /** Work that nobody waits for. */
  background(work: () => Promise<void>): void {
    void this.guarded(work)
  }

  private watchClock(peer: string, slot: number): void {
    const doubt = this.clockWatch.note(peer, slot, { now: this.slot, final: this.final.slot })
    if (doubt === null || this.slot < this.nextWarning) return
    this.nextWarning = this.slot + Math.ceil(60_000 / this.slots.slotMs)
    const next = 'Set the clock of this machine by a time server; the node goes on by itself.'
    this.deps.log.warn('the clock of this machine and that of a peer disagree', { secondsAhead: doubt.seconds, next })
  }

  private async prune(): Promise<void> {
    await this.guarded(async () => {
      this.pool.prune(await this.finalState(), BigInt(this.slot))
      const { keepBlocks } = this.deps
      const below = this.final.height - (keepBlocks ?? 0)
      if (keepBlocks === undefined || below < this.prunedBelow + PRUNE_EVERY) return
      this.prunedBelow = below
      await this.deps.store.forgetBelow(below)
    })
  }

  async reportOffence(payload: Uint8Array): Promise<void> {
    const { keys } = this.deps
    if (keys !== null) await this.guarded(() => sendEvidence(this, keys.signer, payload))
  }
}
