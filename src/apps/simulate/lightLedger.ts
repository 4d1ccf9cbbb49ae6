import { concatBytes, u64le } from '../../core/bytes/bytes.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { taggedHash } from '../../core/bytes/sha256.ts'
import { ancestorAt, type ChainBlock, childOf, genesisBlock, type Win } from '../../core/chain/consensus/chainBlock.ts'
import { type EpochView, epochView, type Standing } from '../../core/chain/consensus/epochView.ts'
import { blockRandomness, lotteryNumber, nextEta } from '../../core/chain/lottery.ts'
import { arrivalOf } from '../../core/chain/threshold.ts'
import type { VotingSizes } from '../../core/chain/votingSet.ts'
import { type SimAccount, SimLedger, type Wish } from './simLedger.ts'
import type { SimulatedCrypto } from './standIns.ts'

/** What a branch says of the accounts at the end of an epoch; before epoch 0 it is the genesis. */
export type Standings = (epoch: number, branch: ChainBlock) => readonly Standing[]

export interface LightLedgerOptions {
  readonly crypto: SimulatedCrypto
  readonly accounts: readonly SimAccount[]
  readonly standings: Standings
  readonly epochSlots: number
  readonly sizes: VotingSizes
  readonly seed: string
}

/** Blocks without content: the lottery, randomness and sets of every branch, on standings that are handed in. */
export class LightLedger extends SimLedger {
  readonly genesis: ChainBlock
  readonly genesisHash: Uint8Array
  private readonly options: LightLedgerOptions
  private readonly views = new Map<string, EpochView>()
  private readonly blocks = new Map<string, ChainBlock>()

  constructor(options: LightLedgerOptions) {
    super(options.crypto, options.accounts, options.epochSlots)
    this.options = options
    this.genesisHash = taggedHash('simulate/genesis', new TextEncoder().encode(options.seed))
    this.genesis = genesisBlock(toHex(this.genesisHash))
  }

  /** All of it follows from blocks up to the end of epoch - 2. */
  viewAt(branch: ChainBlock, epoch: number): EpochView {
    const last = ancestorAt(branch, Math.max(0, (epoch - 1) * this.epochSlots - 1))
    const name = `${epoch}/${epoch < 3 ? '' : last.id}`
    const known = this.views.get(name)
    if (known !== undefined) return known
    const standings = this.options.standings(epoch < 3 ? -1 : epoch - 3, last)
    const view = epochView(epoch, this.etaOf(last, epoch), standings, this.options.sizes)
    this.views.set(name, view)
    return view
  }

  private etaOf(last: ChainBlock, epoch: number): Uint8Array {
    if (epoch < 3) return taggedHash('simulate/eta', this.genesisHash, u64le(epoch))
    const randomness: Uint8Array[] = []
    for (let at: ChainBlock | null = last; at !== null && at.epoch >= epoch - 2; at = at.parent)
      if (at.win !== null) randomness.push(at.win.randomness)
    return nextEta(this.viewAt(last, epoch - 1).eta, BigInt(epoch), randomness.reverse())
  }

  make(wish: Wish): ChainBlock | null {
    if (!this.hasRight(wish)) return null
    const { account, parent, slot, isPrimary, salt } = wish
    const numbers = concatBytes(u64le(slot), Uint8Array.of(isPrimary ? 0 : 1), u64le(salt))
    const id = toHex(taggedHash('simulate/header', fromHex(parent.id, 32)!, fromHex(account.key, 32)!, numbers))
    const known = this.blocks.get(id)
    if (known !== undefined) return known
    const win = isPrimary ? this.winOf(wish) : null
    const block = childOf(parent, { id, slot, author: account.key, win }, this.epochSlots)
    this.blocks.set(id, block)
    return block
  }

  private winOf({ account, parent, slot }: Wish): Win {
    const view = this.viewFor(parent, slot)
    const alpha = this.alphaOf(view, slot)
    const beta = this.crypto.vrf.verify(account.vrfKey.publicKey, alpha, account.vrfKey.prove(alpha))
    if (beta === null) throw new Error('a proof of the winner does not verify')
    const { weight } = view.authors.find(({ key }) => key === account.key)!
    return { arrival: arrivalOf(lotteryNumber(beta), weight, view.draw!.total), randomness: blockRandomness(beta) }
  }
}
