import { equalBytes } from '../../../core/bytes/bytes.ts'
import { fromHex, toHex } from '../../../core/bytes/hex.ts'
import { taggedHash } from '../../../core/bytes/sha256.ts'
import { BY_BOOT_WEIGHT, makeBlock, SECONDARY } from '../../../core/chain/applyBlock.ts'
import { u32be } from '../../../core/chain/bigEndian.ts'
import { type ChainState, type Checks, etaOf, findAccount, located } from '../../../core/chain/chainState.ts'
import { genesisState } from '../../../core/chain/genesisState.ts'
import { lotteryNumber, secondaryAuthor, slotAlpha } from '../../../core/chain/lottery.ts'
import { CHAIN_PRESETS, type ChainParams, epochOf, UNITS_PER_TOKEN } from '../../../core/chain/params.ts'
import { nonceOf } from '../../../core/chain/purse.ts'
import { txBytes, txMessage } from '../../../core/chain/signing.ts'
import { eligibleIn, leaderThreshold, lotteryPlace } from '../../../core/chain/snapshots.ts'
import type { Tx } from '../../../core/chain/ssz.ts'
import { makeAccounts, type SimAccount } from '../simLedger.ts'
import type { SimulatedCrypto } from '../standIns.ts'

/** What an account of the genesis has besides the usual. */
export interface Holdings {
  /** R_D, in µut a day. */
  readonly drilled: bigint
  /** In tokens. */
  readonly stake?: bigint
}

export interface ActedOptions {
  readonly crypto: SimulatedCrypto
  readonly seed: string
  readonly holdings: readonly Holdings[]
  readonly params?: Partial<ChainParams>
  /** µut of a task. */
  readonly work: bigint
}

/** Leaves of a result: 2^depth. */
export const DEPTH = 4

/** The right leaf of a task: a hash stands in for the product that a device would compute. */
export const rightChunk = (seed: Uint8Array, index: number): Uint8Array =>
  taggedHash('simulate/chunk', seed, u32be(index))

/**
 * One chain of real blocks by the accounts that win them. Their makers apply every rule but that of their own signature; that
 * others come to the same state is what the runs with liars show.
 */
export class ActedChain {
  state: ChainState
  readonly accounts: readonly SimAccount[]
  readonly crypto: SimulatedCrypto
  private readonly checks: Checks
  private readonly byKey: ReadonlyMap<string, SimAccount>
  private queue: { readonly account: SimAccount; readonly kind: number; readonly payload: Uint8Array }[] = []

  constructor({ crypto, seed, holdings, params, work }: ActedOptions) {
    this.crypto = crypto
    this.accounts = makeAccounts(holdings.length, seed, crypto)
    this.byKey = new Map(this.accounts.map((account) => [account.key, account]))
    const patch: Checks['patch'] = ({ seed: of, chunk }) => equalBytes(chunk.bytes, rightChunk(of, chunk.index))
    this.checks = {
      signature: crypto.checkSignature,
      vrf: crypto.vrf.verify,
      key: () => true,
      patch,
      terms: () => true,
      live: () => true,
    }
    this.state = genesisState({
      preset: 'tiny',
      timeMs: 0n,
      params: { ...CHAIN_PRESETS.tiny, ...params },
      etas: [1, 2, 3].map((byte) => taggedHash('simulate/acted', Uint8Array.of(byte), this.keyOf(0))),
      accounts: this.accounts.map(({ vrfKey }, i) => ({
        key: this.keyOf(i),
        balance: 100_000n * UNITS_PER_TOKEN,
        bond: 1_000n * UNITS_PER_TOKEN,
        stake: (holdings[i]!.stake ?? 0n) * UNITS_PER_TOKEN,
        vrfKey: vrfKey.publicKey,
        drilled: holdings[i]!.drilled,
        trained: 0n,
      })),
      authorities: [],
      project: { work, depth: DEPTH },
    })
  }

  keyOf(account: number): Uint8Array {
    return fromHex(this.accounts[account]!.key, 32)!
  }

  place(account: number): number {
    return findAccount(located(this.state), this.keyOf(account))
  }

  get epoch(): bigint {
    return this.state.view.epoch
  }

  /** A transaction for the next block. */
  send(account: number, kind: number, payload: Uint8Array): void {
    this.queue.push({ account: this.accounts[account]!, kind, payload })
  }

  /** The next block, at this slot, with all that was sent. */
  advance(slot: bigint): void {
    const applied = this.make(slot, this.signed(slot))
    if ('problem' in applied) throw new Error(`refused: ${applied.problem.code} ${applied.problem.where}`)
    this.queue = []
    this.state = applied.state
  }

  /** Why a block with this transaction alone would be refused; null if it would not. */
  refusal(account: number, kind: number, payload: Uint8Array): string | null {
    const held = this.queue
    this.queue = []
    this.send(account, kind, payload)
    const slot = this.state.view.slot + 1n
    const applied = this.make(slot, this.signed(slot))
    this.queue = held
    return 'problem' in applied ? applied.problem.code : null
  }

  /** Numbered one after the other for each account. */
  private signed(slot: bigint): Tx[] {
    const { state } = this
    const next = new Map<string, bigint>()
    return this.queue.map(({ account: { key: name, signer }, kind, payload }) => {
      const key = fromHex(name, 32)!
      const nonce = next.get(name) ?? nonceOf(state.view.accounts, findAccount(located(state), key))
      next.set(name, nonce + 1n)
      const none = { sig: new Uint8Array(64), payerSig: [], payer: [] }
      const blank = { kind, account: key, nonce, fee: 0n, lastSlot: slot, payload, ...none }
      const fee = state.params.feePerByte * BigInt(txBytes(blank))
      return { ...blank, fee, sig: signer.sign(txMessage(state.genesisHash, { ...blank, fee })) }
    })
  }

  private make(slot: bigint, txs: Tx[]) {
    const { account, kind, vrfProof } = this.authorOf(slot)
    const draft = { slot, author: fromHex(account.key, 32)!, kind, vrfProof, body: { txs, commit: [] } }
    return makeBlock(this.state, draft, account.signer.sign, this.checks)
  }

  /** The account that wins the slot, or that is drawn for it. No epoch may be skipped. */
  private authorOf(slot: bigint) {
    const { view, params, genesisHash } = this.state
    const epoch = epochOf(slot, params)
    const { places, total, draw } = eligibleIn(view, epoch)
    const eta = etaOf(view, epoch)
    const alpha = slotAlpha(genesisHash, eta, slot)
    const holderOf = (place: number) => this.byKey.get(toHex(view.accounts.key.get(place)))!
    const kindOf = (place: number) => (lotteryPlace(view, epoch, place)!.isBoot ? BY_BOOT_WEIGHT : 0)
    for (const place of places) {
      const account = holderOf(place)
      const limit = leaderThreshold(params)(lotteryPlace(view, epoch, place)!.weight, total)
      if (lotteryNumber(account.vrfKey.evaluate(alpha)) < limit)
        return { account, kind: kindOf(place), vrfProof: account.vrfKey.prove(alpha) }
    }
    const place = places[secondaryAuthor(draw!, eta, slot)]!
    return { account: holderOf(place), kind: SECONDARY + kindOf(place), vrfProof: new Uint8Array(80) }
  }
}
