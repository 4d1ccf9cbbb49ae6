import type { Quorum } from '../../core/chain/consensus/vote.ts'
import type { CheckedRow, Lot } from '../../core/chain/envelopes.ts'
import type { StoredBlock } from '../../ports/chainStore.ts'
import type { EnvelopeChecker } from '../../ports/envelopeChecker.ts'
import type { Network } from '../../ports/network.ts'
import { askAncestors, askBlocks, askQuorums, askStatus } from './askPeer.ts'
import type { Import } from './localChain.ts'
import { readRows, UNCHECKED } from './readRows.ts'

/** What a sync works on. */
export interface SyncTarget {
  readonly genesisId: string
  readonly head: StoredBlock
  readonly final: StoredBlock
  /** Whether this block is stored here. */
  has(id: string): Promise<boolean>
  /** What proofs of blocks to come must be of, as far as it can be told. */
  lotsOf(row: readonly Uint8Array[]): (Lot | null)[]
  /** Imports a row of blocks that a peer sent, with what was found out about it elsewhere. */
  take(row: readonly Uint8Array[], checked?: CheckedRow): Promise<readonly Import[]>
  takeQuorum(quorum: Quorum, from: string): Promise<void>
  /** A peer said which slot its head is of. */
  onPeerSlot(peer: string, slot: number): void
}

/** A peer further ahead than this is worth waiting for before a block is made. */
const FAR_BEHIND = 3

/** Fetches what is missing from one peer at a time. */
export class Syncer {
  private readonly network: Network
  private readonly target: SyncTarget
  private readonly epochSlots: number
  private readonly checker: EnvelopeChecker | null
  private readonly running = new Map<string, Promise<void>>()
  private turn: Promise<void> = Promise.resolve()
  private behind = 0

  constructor(network: Network, target: SyncTarget, epochSlots: number, checker: EnvelopeChecker | null) {
    this.network = network
    this.checker = checker
    this.target = target
    this.epochSlots = epochSlots
  }

  /** Whether blocks are being fetched of which many are missing. */
  get isBehind(): boolean {
    return this.behind > 0
  }

  /** Asks a peer where it stands and fetches what it has more. A peer is asked once at a time. */
  withPeer(peer: string): Promise<void> {
    const running = this.running.get(peer)
    if (running !== undefined) return running
    const run = this.turn.then(() => this.sync(peer)).finally(() => this.running.delete(peer))
    this.turn = run.catch(() => {})
    this.running.set(peer, run)
    return run
  }

  /** A block came by gossip, and others before it are missing: a few of them at once, or all that the peer has. */
  async missing(parent: string, block: Uint8Array, peer: string): Promise<void> {
    const row = await askAncestors(this.network, peer, parent)
    if (row === null || row.length === 0) return
    const results = await this.target.take([...row, block])
    if (results[0]?.kind === 'orphan') await this.withPeer(peer)
    else this.judge(results, peer)
  }

  private async sync(peer: string): Promise<void> {
    const status = await askStatus(this.network, peer)
    if (status === null) return
    if (status.genesis !== this.target.genesisId) return this.network.report(peer)
    this.target.onPeerSlot(peer, status.head.slot)
    if (!(await this.target.has(status.head.id))) await this.fetch(peer, status.head.height)
    // Also where nothing is newer: a commit that excludes what is final here must be seen.
    if (status.final.id !== this.target.final.id) await this.fetchQuorums(peer)
  }

  /** Row by row from the last final block on; the next ones are fetched and checked while this one is taken. */
  private async fetch(peer: string, height: number): Promise<void> {
    const isFar = height > this.target.head.height + FAR_BEHIND
    if (isFar) this.behind++
    try {
      const source = { ask: (from: number) => askBlocks(this.network, peer, from), check: this.check }
      for await (const { blocks, checked } of readRows(source, this.target.final.height + 1)) {
        const results = await this.target.take(blocks, checked)
        const isTaken = ({ kind }: Import) => kind === 'added' || kind === 'known'
        if (results.length < blocks.length || !results.every(isTaken)) return this.judge(results, peer)
      }
    } finally {
      if (isFar) this.behind--
    }
  }

  // A thread that is lost costs time, nothing else: what is not checked there is checked here.
  private readonly check = async (blocks: readonly Uint8Array[]): Promise<CheckedRow> =>
    (await this.checker?.check({ blocks, lots: this.target.lotsOf(blocks) }).catch(() => null)) ?? UNCHECKED

  private async fetchQuorums(peer: string): Promise<void> {
    const set = Math.floor(this.target.final.slot / this.epochSlots)
    // The set before it, too: its commit may be for another block than the one that is final here.
    for (const quorum of (await askQuorums(this.network, peer, Math.max(0, set - 1))) ?? [])
      await this.target.takeQuorum(quorum, peer)
  }

  private judge(results: readonly Import[], peer: string): void {
    const last = results.at(-1)
    if (last?.kind === 'refused' && last.problem.code !== 'OLD') this.network.report(peer)
  }
}
