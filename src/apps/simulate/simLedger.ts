import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { taggedHash } from '../../core/bytes/sha256.ts'
import type { ChainBlock } from '../../core/chain/consensus/chainBlock.ts'
import type { EpochView } from '../../core/chain/consensus/epochView.ts'
import type { Quorum } from '../../core/chain/consensus/vote.ts'
import type { VotePair } from '../../core/chain/consensus/voteBook.ts'
import type { VrfKey } from '../../core/chain/ecvrf.ts'
import { lotteryNumber, secondaryAuthor, slotAlpha } from '../../core/chain/lottery.ts'
import { type Threshold, thresholdFor } from '../../core/chain/threshold.ts'
import type { SimulatedCrypto } from './standIns.ts'

/** An account of the run, with its secrets. */
export interface SimAccount {
  readonly key: string
  readonly signer: Signer
  readonly vrfKey: VrfKey
}

/** The accounts of a run, by ascending key: their number in the list is the number of their node. */
export function makeAccounts(count: number, seed: string, crypto: SimulatedCrypto): SimAccount[] {
  const accounts = Array.from({ length: count }, (_, number) => {
    const secret = taggedHash('simulate/secret', new TextEncoder().encode(`${seed}/${number}`))
    const signer = crypto.signerFrom(secret)
    const vrfKey = crypto.vrf.keyFrom(taggedHash('simulate/vrf', secret))
    return { key: toHex(signer.publicKey), signer, vrfKey }
  })
  return accounts.sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** f = 1/4: the share of slots with a primary block. */
export const LEADERS = { numerator: 1n, denominator: 4n }

/** A block that an account would like to make. */
export interface Wish {
  readonly account: SimAccount
  readonly parent: ChainBlock
  readonly slot: number
  readonly isPrimary: boolean
  /** Tells two blocks of one account and slot apart. */
  readonly salt: number
  /** What its author knows and may record: commits, and proofs of offences. */
  readonly commits: readonly Quorum[]
  readonly offences: readonly VotePair[]
}

/** The blocks of a run, made and checked once and shared by all nodes, and what their branches say. */
export abstract class SimLedger {
  abstract readonly genesis: ChainBlock
  abstract readonly genesisHash: Uint8Array
  readonly crypto: SimulatedCrypto
  protected readonly epochSlots: number
  protected readonly threshold: Threshold = thresholdFor(LEADERS)
  private readonly numbers: ReadonlyMap<string, number>
  private readonly thresholds = new WeakMap<EpochView, Map<string, bigint>>()
  // All nodes ask for the same slot in turn.
  private lastAlpha: { readonly view: EpochView; readonly slot: number; readonly alpha: Uint8Array } | null = null
  private lastSecondary: { readonly view: EpochView; readonly slot: number; readonly author: number } | null = null

  constructor(crypto: SimulatedCrypto, accounts: readonly SimAccount[], epochSlots: number) {
    this.crypto = crypto
    this.epochSlots = epochSlots
    this.numbers = new Map(accounts.map(({ key }, number) => [key, number]))
  }

  /** What the branch says of an epoch: its own or a later one. */
  abstract viewAt(branch: ChainBlock, epoch: number): EpochView
  /** The block, or null if the account has no right to it. */
  abstract make(wish: Wish): ChainBlock | null

  viewOf = (block: ChainBlock): EpochView => this.viewAt(block, block.epoch)

  protected viewFor(branch: ChainBlock, slot: number): EpochView {
    return this.viewAt(branch, Math.floor(slot / this.epochSlots))
  }

  /** Whether the account wins the slot on this branch. */
  isLeader(account: SimAccount, branch: ChainBlock, slot: number): boolean {
    const view = this.viewFor(branch, slot)
    const limit = this.thresholdsOf(view).get(account.key)
    return limit !== undefined && lotteryNumber(account.vrfKey.evaluate(this.alphaOf(view, slot))) < limit
  }

  /** The number of the node that may make the secondary block of the slot on this branch; -1 if nobody has weight. */
  secondaryOf(branch: ChainBlock, slot: number): number {
    const view = this.viewFor(branch, slot)
    if (this.lastSecondary?.view !== view || this.lastSecondary.slot !== slot) {
      const { draw, eta, authors } = view
      const author = draw === null ? -1 : this.numbers.get(authors[secondaryAuthor(draw, eta, BigInt(slot))]!.key)!
      this.lastSecondary = { view, slot, author }
    }
    return this.lastSecondary.author
  }

  protected hasRight({ account, parent, slot, isPrimary }: Wish): boolean {
    if (slot <= parent.slot) return false
    if (isPrimary) return this.isLeader(account, parent, slot)
    return this.secondaryOf(parent, slot) === this.numbers.get(account.key)
  }

  protected alphaOf(view: EpochView, slot: number): Uint8Array {
    if (this.lastAlpha?.view !== view || this.lastAlpha.slot !== slot)
      this.lastAlpha = { view, slot, alpha: slotAlpha(this.genesisHash, view.eta, BigInt(slot)) }
    return this.lastAlpha.alpha
  }

  private thresholdsOf(view: EpochView): Map<string, bigint> {
    const known = this.thresholds.get(view)
    if (known !== undefined) return known
    const total = view.draw?.total ?? 1n
    const made = new Map(view.authors.map(({ key, weight }) => [key, this.threshold(weight, total)]))
    this.thresholds.set(view, made)
    return made
  }
}
