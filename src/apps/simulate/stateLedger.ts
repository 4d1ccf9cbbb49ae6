import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { applyBlock, BY_BOOT_WEIGHT, makeBlock, SECONDARY } from '../../core/chain/applyBlock.ts'
import { type ChainState, type Checks, etaOf, findAccount, located } from '../../core/chain/chainState.ts'
import { type ChainBlock, childOf, contains, genesisBlock, type Win } from '../../core/chain/consensus/chainBlock.ts'
import { type EpochView, type Standing, votersFrom } from '../../core/chain/consensus/epochView.ts'
import { type Quorum, spelledCommit, spelledVote, voteOffence } from '../../core/chain/consensus/vote.ts'
import type { VotePair } from '../../core/chain/consensus/voteBook.ts'
import { endEpoch } from '../../core/chain/epoch/endEpoch.ts'
import { genesisState } from '../../core/chain/genesisState.ts'
import { PURPOSES, unitsHeld } from '../../core/chain/ledger.ts'
import { blockRandomness, lotteryNumber } from '../../core/chain/lottery.ts'
import { CHAIN_PRESETS, UNITS_PER_TOKEN } from '../../core/chain/params.ts'
import { nonceOf } from '../../core/chain/purse.ts'
import { PRECOMMIT } from '../../core/chain/recordCommit.ts'
import { txMessage } from '../../core/chain/signing.ts'
import { eligibleIn, lotteryPlace, votersOf } from '../../core/chain/snapshots.ts'
import { type Commit, type Tx, TxType } from '../../core/chain/ssz.ts'
import { arrivalOf } from '../../core/chain/threshold.ts'
import { EvidenceType } from '../../core/chain/transactions/evidence.ts'
import { LockType, TransferType } from '../../core/chain/transactions/payloads.ts'
import { type SimAccount, SimLedger, type Wish } from './simLedger.ts'
import type { SimulatedCrypto } from './standIns.ts'

const TRANSFER = 0
const LOCK = 2
const UNLOCK = 3
const EVIDENCE = 24

/** A block after which the units that all hold were not the supply. */
interface Leak {
  readonly slot: number
  readonly supply: string
  readonly units: string
}

/**
 * The whole state transition under the lottery: transfers, locks, commits, rewards, evidence and slashing. Every block is made by
 * its author and applied again as another node would, once for all nodes.
 */
export class StateLedger extends SimLedger {
  readonly genesis: ChainBlock
  readonly genesisHash: Uint8Array
  private readonly accounts: readonly SimAccount[]
  private readonly checks: Checks
  private readonly states = new Map<string, ChainState>()
  private readonly views = new Map<string, EpochView>()
  /** Blocks by what was wished for, and by their hash. */
  private readonly made = new Map<string, ChainBlock>()
  private readonly blocks = new Map<string, ChainBlock>()
  private counted = 0
  private punished = 0
  private leak: Leak | null = null

  constructor(crypto: SimulatedCrypto, accounts: readonly SimAccount[], weights: readonly bigint[]) {
    const params = CHAIN_PRESETS.tiny
    super(crypto, accounts, Number(params.epochSlots))
    this.accounts = accounts
    const drilling = { patch: () => false, terms: () => true, live: () => true }
    this.checks = { signature: crypto.checkSignature, vrf: crypto.vrf.verify, key: () => true, ...drilling }
    const state = genesisState({
      preset: 'tiny',
      timeMs: 0n,
      params,
      etas: [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte)),
      accounts: accounts.map(({ key, vrfKey }, number) => ({
        key: fromHex(key, 32)!,
        balance: 100_000n * UNITS_PER_TOKEN,
        bond: 1_000n * UNITS_PER_TOKEN,
        stake: 0n,
        vrfKey: vrfKey.publicKey,
        drilled: (weights[number]! * 10n) / 4n,
        trained: 0n,
      })),
      authorities: [],
      project: { work: 1_000_000n, depth: 4 },
    })
    this.genesisHash = state.genesisHash
    this.genesis = genesisBlock(toHex(state.genesisHash))
    this.states.set(this.genesis.id, state)
  }

  /** Blocks whose units were counted, offences punished, and the first leak. */
  get figures() {
    const { counted, punished, leak } = this
    return { counted, punished, leak }
  }

  private stateOf(block: ChainBlock): ChainState {
    return this.states.get(block.id)!
  }

  viewAt(branch: ChainBlock, epoch: number): EpochView {
    const name = `${branch.epochStart.id}/${branch.epoch === epoch ? '' : branch.id}/${epoch}`
    const known = this.views.get(name)
    if (known !== undefined) return known
    const view = this.readView(this.stateAt(branch, epoch), epoch)
    this.views.set(name, view)
    return view
  }

  /** The state of the branch once so many epochs have ended without another block. */
  private stateAt(branch: ChainBlock, epoch: number): ChainState {
    const state = this.stateOf(branch)
    if (branch.epoch >= epoch) return state
    const view = state.view.clone()
    while (view.epoch < BigInt(epoch)) endEpoch({ state: view, accounts: view.accounts, params: state.params })
    return { ...state, view }
  }

  private readView(state: ChainState, number: number): EpochView {
    const epoch = BigInt(number)
    const { places, draw } = eligibleIn(state.view, epoch)
    const authors = places.map((place): Standing => {
      const { weight, vrfKey, isBoot } = lotteryPlace(state.view, epoch, place)!
      return { key: toHex(state.view.accounts.key.get(place)), vrfKey, weight, vote: 0n, isBoot }
    })
    const { voters, total } = votersOf(state, epoch)!
    const set = votersFrom(
      voters.map(({ key, weight }) => ({ key: toHex(key), weight })),
      total,
    )
    return { epoch: number, eta: etaOf(state.view, epoch), authors, draw, voters: set }
  }

  make(wish: Wish): ChainBlock | null {
    if (!this.hasRight(wish)) return null
    const { account, parent, slot, isPrimary, salt } = wish
    const name = `${parent.id}/${account.key}/${slot}/${isPrimary}/${salt}`
    const known = this.made.get(name)
    if (known !== undefined) return known
    const block = this.build(wish)
    if (block !== null) this.made.set(name, block)
    return block
  }

  private build(wish: Wish): ChainBlock | null {
    const { account, parent, slot, isPrimary } = wish
    const state = this.stateOf(parent)
    const view = this.viewFor(parent, slot)
    const alpha = this.alphaOf(view, slot)
    const standing = view.authors.find(({ key }) => key === account.key)!
    const draft = {
      slot: BigInt(slot),
      author: fromHex(account.key, 32)!,
      kind: (isPrimary ? 0 : SECONDARY) + (standing.isBoot ? BY_BOOT_WEIGHT : 0),
      vrfProof: isPrimary ? account.vrfKey.prove(alpha) : new Uint8Array(80),
    }
    // What does not fit this branch is left out: another author may have been first.
    for (const body of this.bodies(state, wish)) {
      const result = makeBlock(state, { ...draft, body }, account.signer.sign, this.checks)
      if ('problem' in result) continue
      const applied = applyBlock(state, result.block, this.checks)
      if ('problem' in applied) throw new Error(`a block was made and refused: ${applied.problem.code}`)
      const id = toHex(applied.state.head)
      // Two wishes can lead to one block, where what told them apart had no room.
      const known = this.blocks.get(id)
      if (known !== undefined) return known
      this.states.set(id, applied.state)
      this.count(applied.state, slot)
      if (body.txs.some(({ kind }) => kind === EVIDENCE)) this.punished++
      const win = isPrimary ? this.winOf(account, alpha, standing, view) : null
      const block = childOf(parent, { id, slot, author: account.key, win }, this.epochSlots)
      this.blocks.set(id, block)
      return block
    }
    return null
  }

  private winOf({ vrfKey }: SimAccount, alpha: Uint8Array, { weight }: Standing, { draw }: EpochView): Win {
    const beta = vrfKey.evaluate(alpha)
    return { arrival: arrivalOf(lotteryNumber(beta), weight, draw!.total), randomness: blockRandomness(beta) }
  }

  /** What the author would like to put in, the fullest first. */
  private bodies(state: ChainState, wish: Wish): { txs: Tx[]; commit: Commit[] }[] {
    const commit = this.commitFor(state, wish)
    const money = this.moneyOf(state, wish)
    const proofs = wish.offences.slice(-3).map((pair) => this.evidenceOf(state, wish, pair))
    return [
      ...proofs.map((tx) => ({ txs: [tx], commit })),
      { txs: [money], commit },
      { txs: [], commit },
      { txs: [], commit: [] },
    ]
  }

  /** Money on its way: to another account in every second slot, else locked away for a purpose, or asked back. */
  private moneyOf(state: ChainState, wish: Wish): Tx {
    const { slot, salt, account } = wish
    const amount = BigInt(1 + slot * 7 + salt)
    if (slot % 2 === 0) {
      const to = fromHex(this.accounts[(slot + salt) % this.accounts.length]!.key, 32)!
      return this.txOf(state, wish, TRANSFER, TransferType.serialize({ to, amount }))
    }
    // Not the bond: who asks for a part of it back has no vote.
    const purpose = 1 + (slot % 3)
    const held = state.view.accounts[PURPOSES[purpose]!].get(findAccount(located(state), fromHex(account.key, 32)!))
    return held < amount
      ? this.txOf(state, wish, LOCK, LockType.serialize({ purpose, amount: 3n * amount }))
      : this.txOf(state, wish, UNLOCK, LockType.serialize({ purpose, amount }))
  }

  private evidenceOf(state: ChainState, wish: Wish, [a, b]: VotePair): Tx {
    // The precommit before the prevote that broke it: evidence has one order, and either vote may have come first.
    const votes = [a, b]
      .sort((one, other) => other.kind - one.kind)
      .map((vote) => ({ ...spelledVote(vote), sig: vote.signature }))
    const offence = voteOffence(a, b) === 'brokenLock' ? 2 : 1
    return this.txOf(state, wish, EVIDENCE, EvidenceType.serialize({ offence, headers: [], votes }))
  }

  private txOf(state: ChainState, { account, slot }: Wish, kind: number, payload: Uint8Array): Tx {
    const key = fromHex(account.key, 32)!
    const none = { sig: new Uint8Array(64), payerSig: [], payer: [] }
    const nonce = nonceOf(state.view.accounts, findAccount(located(state), key))
    const blank = { kind, account: key, nonce, fee: 0n, lastSlot: BigInt(slot), payload, ...none }
    const fee = state.params.feePerByte * BigInt(TxType.serialize(blank).length)
    const sig = account.signer.sign(txMessage(state.genesisHash, { ...blank, fee }))
    return { ...blank, fee, sig }
  }

  /** The commit of the set that the branch knows as in charge, if the author has one for a block of this branch. */
  private commitFor(state: ChainState, { commits, parent }: Wish): Commit[] {
    const set = Number(state.view.final.slot / state.params.epochSlots)
    const isAble = ({ target, targetSlot }: Quorum) => {
      const block = [...this.pathBack(parent, targetSlot)].find(({ id }) => id === target)
      return block !== undefined && BigInt(targetSlot) > state.view.final.slot && contains(parent, block)
    }
    const fitting = commits.filter((each) => each.kind === PRECOMMIT && each.set === set && isAble(each)).at(-1)
    if (fitting === undefined) return []
    const { voters } = votersOf(state, BigInt(set))!
    const keys = voters.map(({ key }) => toHex(key))
    return [spelledCommit(fitting, keys)]
  }

  private *pathBack(tip: ChainBlock, slot: number): Iterable<ChainBlock> {
    for (let at: ChainBlock | null = tip; at !== null && at.slot >= slot; at = at.parent) yield at
  }

  /** Supply is what all hold, to the last unit. */
  private count({ view }: ChainState, slot: number): void {
    const units = unitsHeld(view)
    this.counted++
    if (units !== view.supply) this.leak ??= { slot, supply: String(view.supply), units: String(units) }
  }
}
