import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { type ChainState, type Checks, findAccount, located } from '../../core/chain/chainState.ts'
import { type Problem, problem } from '../../core/chain/problems.ts'
import { balanceOf, nonceOf } from '../../core/chain/purse.ts'
import { decodeTx, type Tx } from '../../core/chain/ssz.ts'
import { checkForm, checkSignatures } from '../../core/chain/transactions/applyTx.ts'
import { checkTx } from '../../core/chain/transactions/checkTx.ts'
import { LockType, TransferType } from '../../core/chain/transactions/payloads.ts'
import type { Submitted } from '../../ports/chainNode.ts'

/** §3.11. */
const MOST_TXS = 10_000
const MOST_OF_ACCOUNT = 64
/** Of one account, those that wait for another one before them: gossip does not keep their order. */
const MOST_GAPPED = 16

interface Entry {
  readonly id: string
  readonly tx: Tx
  readonly account: string
  /** Who pays the fee. */
  readonly payer: string
  /** What its account pays beside it. */
  readonly amount: bigint
  /** Fee for a byte, in thousandths of a unit. */
  readonly rate: bigint
}

/** What a transfer or a lock moves out of the balance (§3.9). Its form was checked. */
const amountOf = ({ kind, payload }: Tx): bigint =>
  kind === 0 ? TransferType.deserialize(payload).amount : kind === 2 ? LockType.deserialize(payload).amount : 0n

const costTo = (key: string, { account, payer, amount, tx }: Entry): bigint =>
  (account === key ? amount : 0n) + (payer === key ? tx.fee : 0n)

/** Transactions that wait for a block: bounded, the best paid stay (§3.11). What is in a block stays until it is final. */
export class TxPool {
  private readonly checks: Checks
  private readonly byId = new Map<string, Entry>()
  /** By account, then by nonce. */
  private readonly byAccount = new Map<string, Map<bigint, Entry>>()
  /** By account, what it pays for. */
  private readonly byDebtor = new Map<string, Set<Entry>>()
  private readonly most: number

  constructor(checks: Checks, most = MOST_TXS) {
    this.checks = checks
    this.most = most
  }

  get size(): number {
    return this.byId.size
  }

  has(bytes: Uint8Array): boolean {
    return this.byId.has(toHex(sha256(bytes)))
  }

  /** `state` is that of the head, its epochs ended up to that of `slot`. */
  add(bytes: Uint8Array, state: ChainState, slot: bigint): Submitted {
    const id = toHex(sha256(bytes))
    if (this.byId.has(id)) return { kind: 'known', id }
    const tx = decodeTx(bytes)
    if (tx === null) return refused(problem('MALFORMED', 'transaction'))
    const unfit = this.check(tx, bytes.length, state, slot)
    if (unfit !== null) return refused(unfit)
    const account = toHex(tx.account)
    const payer = tx.payer[0] === undefined ? account : toHex(tx.payer[0])
    const rate = (tx.fee * 1_000n) / BigInt(bytes.length)
    const entry: Entry = { id, tx, account, payer, amount: amountOf(tx), rate }
    const unpaid = this.checkDebts(entry, state) ?? this.makeRoom(entry, state, slot)
    if (unpaid !== null) return refused(unpaid)
    const mine = this.byAccount.get(account) ?? new Map<bigint, Entry>()
    this.byAccount.set(account, mine.set(tx.nonce, entry))
    this.byId.set(id, entry)
    for (const key of [account, payer]) this.byDebtor.set(key, (this.byDebtor.get(key) ?? new Set<Entry>()).add(entry))
    return { kind: 'taken', id }
  }

  /** The next one of an account is tried in full; those after it, as far as can be said before it. */
  private check(tx: Tx, bytes: number, state: ChainState, slot: bigint): Problem | null {
    const place = findAccount(located(state), tx.account)
    const nonce = place === -1 ? 0n : nonceOf(state.view.accounts, place)
    if (tx.nonce <= nonce || place === -1) return checkTx(state, tx, slot, this.checks)
    const malformed = checkForm(tx)
    if (malformed !== null) return malformed
    if (tx.nonce >= nonce + BigInt(MOST_OF_ACCOUNT)) return problem('NONCE', 'nonce')
    const { params, genesisHash } = state
    if (tx.fee < params.feePerByte * BigInt(bytes)) return problem('FEE', 'fee')
    if (tx.lastSlot < slot || tx.lastSlot > slot + params.epochSlots) return problem('EXPIRED', 'lastSlot')
    const [payerKey] = tx.payer
    const payer = payerKey === undefined ? place : findAccount(located(state), payerKey)
    if (payer === -1 || (payerKey !== undefined && payer === place)) return problem('ACCOUNT', 'payer')
    if (balanceOf(state.view.accounts, payer) < tx.fee) return problem('BALANCE', 'fee')
    return checkSignatures({ checks: this.checks, genesisHash }, tx)
  }

  /** Whoever pays must hold enough for all that waits. */
  private checkDebts(entry: Entry, state: ChainState): Problem | null {
    const twin = this.byAccount.get(entry.account)?.get(entry.tx.nonce)
    for (const account of [entry.tx.account, ...entry.tx.payer]) {
      const [key, place] = [toHex(account), findAccount(located(state), account)]
      let left = (place === -1 ? 0n : balanceOf(state.view.accounts, place)) - costTo(key, entry)
      for (const other of this.byDebtor.get(key) ?? [])
        if (other !== twin && other.tx.nonce >= nonceIn(state, other.tx)) left -= costTo(key, other)
      if (left < 0n) return problem('BALANCE', 'fee')
    }
    return null
  }

  /** Another of the same nonce goes for one that pays a tenth more; so does, where all is full, the worst that can follow. */
  private makeRoom(entry: Entry, state: ChainState, slot: bigint): Problem | null {
    const mine = this.byAccount.get(entry.account) ?? new Map<bigint, Entry>()
    const twin = mine.get(entry.tx.nonce)
    if (twin !== undefined) return this.replace(twin, twin.rate, entry.rate) ? null : problem('TWICE', 'fee')
    const isFull = () => this.byId.size >= this.most
    if (isFull() || mine.size >= MOST_OF_ACCOUNT) this.forgetMined(state)
    const run = [...runOf(new Map([...mine, [entry.tx.nonce, entry]]), state, slot)]
    const own = run.find((each) => each.entry === entry)
    if (own === undefined) {
      const next = nonceIn(state, entry.tx) + BigInt(run.length)
      const gapped = [...mine.keys()].filter((nonce) => nonce >= next).length
      if (gapped >= MOST_GAPPED) return problem('NONCE', 'nonce')
      return isFull() ? problem('FULL', 'nonce') : null
    }
    if (!isFull()) return null
    const worst = this.worst(state, slot)
    return this.replace(worst.entry, worst.rate, own.rate) ? null : problem('FULL', 'fee')
  }

  private replace(loser: Entry, old: bigint, rate: bigint): boolean {
    if (10n * rate < 11n * old) return false
    this.remove(loser)
    return true
  }

  /** What the branch of the head has taken already goes first. */
  private forgetMined(state: ChainState): void {
    for (const entry of [...this.byId.values()]) if (entry.tx.nonce < nonceIn(state, entry.tx)) this.remove(entry)
  }

  /** One that could come into no block now, whatever it offers, or else the last of a row that pays least. */
  private worst(state: ChainState, slot: bigint): Ranked {
    const able = this.able(state, slot)
    const following = new Set(able.map(({ entry }) => entry))
    for (const entry of this.byId.values()) if (!following.has(entry)) return { entry, rate: 0n }
    return able.reduce((worst, each) => (each.rate <= worst.rate ? each : worst))
  }

  private able(state: ChainState, slot: bigint): Ranked[] {
    return [...this.byAccount.values()].flatMap((mine) => [...runOf(mine, state, slot)])
  }

  /** All that by their nonces can follow each other in a block of this slot: those of its author, then the best paid. */
  pick(state: ChainState, slot: bigint, author: string): Tx[] {
    const able = this.able(state, slot)
    const isOwn = ({ entry }: Ranked) => entry.account === author
    const others = able.filter((each) => !isOwn(each))
    others.sort((a, b) => (a.rate === b.rate ? 0 : a.rate > b.rate ? -1 : 1))
    return [...able.filter(isOwn), ...others].map(({ entry }) => entry.tx)
  }

  /** A transaction that no block could hold, with those of the account that come after it. */
  drop(tx: Tx): void {
    const mine = this.byAccount.get(toHex(tx.account))
    for (const entry of [...(mine?.values() ?? [])]) if (entry.tx.nonce >= tx.nonce) this.remove(entry)
  }

  /** Forgets what is final or too late. */
  prune(final: ChainState, slot: bigint): void {
    for (const entry of [...this.byId.values()])
      if (entry.tx.lastSlot < slot || entry.tx.nonce < nonceIn(final, entry.tx)) this.remove(entry)
  }

  nextNonce(account: Uint8Array, state: ChainState): bigint {
    const mine = this.byAccount.get(toHex(account))
    const place = findAccount(located(state), account)
    let nonce = place === -1 ? 0n : nonceOf(state.view.accounts, place)
    while (mine?.has(nonce)) nonce++
    return nonce
  }

  private remove(entry: Entry): void {
    const { id, account, payer, tx } = entry
    this.byId.delete(id)
    for (const key of [account, payer]) {
      this.byDebtor.get(key)?.delete(entry)
      if (this.byDebtor.get(key)?.size === 0) this.byDebtor.delete(key)
    }
    const mine = this.byAccount.get(account)
    if (mine?.get(tx.nonce)?.id === id) mine.delete(tx.nonce)
    if (mine?.size === 0) this.byAccount.delete(account)
  }
}

const refused = (wrong: Problem): Submitted => ({ kind: 'refused', problem: wrong })

function nonceIn(state: ChainState, { account }: Tx): bigint {
  const place = findAccount(located(state), account)
  return place === -1 ? 0n : nonceOf(state.view.accounts, place)
}

interface Ranked {
  readonly entry: Entry
  readonly rate: bigint
}

/** Those of an account that follow each other. One counts no more than those that must come before it. */
function* runOf(mine: ReadonlyMap<bigint, Entry>, state: ChainState, slot: bigint): Generator<Ranked> {
  const [first] = mine.values()
  let nonce = nonceIn(state, first!.tx)
  let rate: bigint | null = null
  for (let entry = mine.get(nonce); entry !== undefined; entry = mine.get(++nonce)) {
    const { lastSlot } = entry.tx
    if (lastSlot < slot || lastSlot > slot + state.params.epochSlots) return
    rate = rate === null || entry.rate < rate ? entry.rate : rate
    yield { entry, rate }
  }
}
