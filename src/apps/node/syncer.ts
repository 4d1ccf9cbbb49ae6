import type { Quorum } from '../../core/chain/consensus/vote.ts'
import type { CheckedRow, Lot } from '../../core/chain/envelopes.ts'
import type { StoredBlock } from '../../ports/chainStore.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EnvelopeChecker } from '../../ports/envelopeChecker.ts'
import type { Network } from '../../ports/network.ts'
import { within } from '../shared/within.ts'
import { askAncestors, askBlocks, askQuorums, askStatus } from './askPeer.ts'
import type { Import } from './localChain.ts'
import { readRows, UNCHECKED } from './readRows.ts'

/** What a sync works on. */
export interface SyncTarget {
  readonly genesisId: string
  /** By the clock. */
  readonly slot: number
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

/** A peer further ahead than this, in blocks or slots, is worth waiting for before a block is made. */
const FAR_BEHIND = 3
/** After its start a node waits for what peers say that they have; later for nothing but what they brought. */
const FIRST_LOOK_US = 15_000_000
/** How long a peer that is asked for blocks may keep others from being asked. */
const PATIENCE_MS = 3_000
/** Who brought nothing of what it said is asked again after this time, then after twice as long, and so on. */
const FIRST_PAUSE_US = 10_000_000
const LONGEST_PAUSE_US = 600_000_000

interface SyncerDeps {
  readonly network: Network
  readonly target: SyncTarget
  readonly epochSlots: number
  readonly clock: Clock
  readonly checker: EnvelopeChecker | null
}

/** Fetches what is missing from one peer after the other. */
export class Syncer {
  private readonly deps: SyncerDeps
  private readonly running = new Map<string, Promise<void>>()
  private readonly pauses = new Map<string, { readonly us: number; readonly untilUs: number }>()
  private readonly firstLookEndsUs: number
  private turn: Promise<void> = Promise.resolve()
  /** Peers that say they are far ahead, and those that brought blocks of long ago, which were new here and right. */
  private readonly claiming = new Set<string>()
  private readonly bringing = new Set<string>()

  constructor(deps: SyncerDeps) {
    this.deps = deps
    this.firstLookEndsUs = deps.clock.monotonicUs() + FIRST_LOOK_US
  }

  /** Whether blocks are being fetched of which many are missing. Anybody can say that there are some. */
  get isBehind(): boolean {
    const isFirstLook = this.deps.clock.monotonicUs() < this.firstLookEndsUs
    return this.bringing.size > 0 || (isFirstLook && this.claiming.size > 0)
  }

  /** Asks a peer where it stands and fetches what it has more. A peer is asked once at a time. */
  withPeer(peer: string): Promise<void> {
    const running = this.running.get(peer)
    if (running !== undefined) return running
    if (this.deps.clock.monotonicUs() < (this.pauses.get(peer)?.untilUs ?? 0)) return Promise.resolve()
    const run = this.sync(peer).finally(() => this.running.delete(peer))
    this.running.set(peer, run)
    return run
  }

  /** A block came by gossip, and others before it are missing: a few of them at once, or all that the peer has. */
  async missing(parent: string, block: Uint8Array, peer: string): Promise<void> {
    const { network, target } = this.deps
    const row = await askAncestors(network, peer, parent)
    if (row === null || row.length === 0) return
    const results = await target.take([...row, block])
    if (results[0]?.kind === 'orphan') await this.withPeer(peer)
    else this.judge(results, peer)
  }

  private async sync(peer: string): Promise<void> {
    const { network, target } = this.deps
    const status = await askStatus(network, peer)
    if (status === null) return
    if (status.genesis !== target.genesisId) return network.report(peer)
    target.onPeerSlot(peer, status.head.slot)
    if (!(await target.has(status.head.id))) await this.fetchClaimed(peer, status.head)
    // Also where nothing is newer: a commit that excludes what is final here must be seen.
    if (status.final.id !== target.final.id) await this.fetchQuorums(peer)
  }

  /** When it is this peer's turn. */
  private async fetchClaimed(peer: string, claimed: { readonly id: string; readonly height: number }): Promise<void> {
    const { target } = this.deps
    if (claimed.height > target.head.height + FAR_BEHIND) this.claiming.add(peer)
    const before = this.turn
    let giveWay = () => {}
    this.turn = new Promise((resolve) => {
      giveWay = resolve
    })
    try {
      await before
      const isNews = await this.fetch(peer, giveWay)
      if (isNews || claimed.height <= target.head.height || (await target.has(claimed.id))) this.pauses.delete(peer)
      else this.pause(peer)
    } finally {
      giveWay()
      this.claiming.delete(peer)
      this.bringing.delete(peer)
    }
  }

  /**
   * Row by row from the last final block on; the next ones are fetched and checked while this one is taken. Whoever is
   * slow, or brings nothing that was missing for long, goes on beside the others. True if anything was new.
   */
  private async fetch(peer: string, giveWay: () => void): Promise<boolean> {
    const { network, target, clock } = this.deps
    const ask = (from: number) => {
      const answer = askBlocks(network, peer, from)
      within(clock, PATIENCE_MS, answer).then((blocks) => blocks ?? giveWay(), giveWay)
      return answer
    }
    let [news, missed] = [0, 0]
    for await (const { blocks, checked } of readRows({ ask, check: this.check }, target.final.height + 1)) {
      const results = await target.take(blocks, checked)
      const added = results.filter((result) => result.kind === 'added')
      // What others are about to send anyway shows nothing.
      const old = added.filter(({ facts }) => facts.slot < target.slot - FAR_BEHIND).length
      news += added.length
      missed += old
      if (old > 0 && missed > FAR_BEHIND) this.bringing.add(peer)
      else this.bringing.delete(peer)
      if (old === 0) giveWay()
      const isTaken = ({ kind }: Import) => kind === 'added' || kind === 'known'
      if (results.length < blocks.length || !results.every(isTaken)) {
        this.judge(results, peer)
        break
      }
    }
    return news > 0
  }

  private pause(peer: string): void {
    const { network, clock } = this.deps
    const there = new Set(network.peers())
    for (const known of this.pauses.keys()) if (!there.has(known)) this.pauses.delete(known)
    const us = Math.min(LONGEST_PAUSE_US, 2 * (this.pauses.get(peer)?.us ?? FIRST_PAUSE_US / 2))
    this.pauses.set(peer, { us, untilUs: clock.monotonicUs() + us })
    network.report(peer)
  }

  // A thread that is lost costs time, nothing else: what is not checked there is checked here.
  private readonly check = async (blocks: readonly Uint8Array[]): Promise<CheckedRow> =>
    (await this.deps.checker?.check({ blocks, lots: this.deps.target.lotsOf(blocks) }).catch(() => null)) ?? UNCHECKED

  private async fetchQuorums(peer: string): Promise<void> {
    const { network, target, epochSlots } = this.deps
    const set = Math.floor(target.final.slot / epochSlots)
    // The set before it, too: its commit may be for another block than the one that is final here.
    for (const quorum of (await askQuorums(network, peer, Math.max(0, set - 1))) ?? [])
      await target.takeQuorum(quorum, peer)
  }

  private judge(results: readonly Import[], peer: string): void {
    const last = results.at(-1)
    if (last?.kind === 'refused' && last.problem.code !== 'OLD') this.deps.network.report(peer)
  }
}
