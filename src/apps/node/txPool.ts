import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { type ChainState, type Checks, findAccount, located } from '../../core/chain/chainState.ts'
import { type Problem, problem } from '../../core/chain/problems.ts'
import { balanceOf, nonceOf } from '../../core/chain/purse.ts'
import { txBytes, txMessage } from '../../core/chain/signing.ts'
import { decodeTx, MAX_BLOCK_TXS, type Tx } from '../../core/chain/ssz.ts'
import { checkTx } from '../../core/chain/transactions/checkTx.ts'
import type { Submitted } from '../../ports/chainNode.ts'

/** §3.11. */
const MOST_TXS = 10_000
const MOST_OF_ACCOUNT = 64
/** A commit of all voters fits beside the transactions of a block. */
const COMMIT_BYTES = 70_000

interface Entry {
  readonly id: string
  readonly tx: Tx
  readonly account: string
  readonly bytes: number
}

/** Fee for a byte, in thousandths of a unit. */
const rateOf = ({ tx, bytes }: Entry): bigint => (tx.fee * 1_000n) / BigInt(bytes)

/** Transactions that wait for a block: bounded, the best paid stay (§3.11). What is in a block stays until it is final. */
export class TxPool {
  private readonly checks: Checks
  private readonly byId = new Map<string, Entry>()
  /** By account, then by nonce. */
  private readonly byAccount = new Map<string, Map<bigint, Entry>>()
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
    const entry: Entry = { id, tx, account: toHex(tx.account), bytes: bytes.length }
    const wrong = this.check(entry, state, slot) ?? this.makeRoom(entry, state)
    if (wrong !== null) return refused(wrong)
    const mine = this.byAccount.get(entry.account) ?? new Map<bigint, Entry>()
    this.byAccount.set(entry.account, mine.set(tx.nonce, entry))
    this.byId.set(id, entry)
    return { kind: 'taken', id }
  }

  /** The next one of an account is tried in full; those after it, as far as can be said before it. */
  private check({ tx, bytes }: Entry, state: ChainState, slot: bigint): Problem | null {
    const place = findAccount(located(state), tx.account)
    const nonce = place === -1 ? 0n : nonceOf(state.view.accounts, place)
    if (tx.nonce <= nonce || place === -1) return checkTx(state, tx, slot, this.checks)
    if (tx.nonce >= nonce + BigInt(MOST_OF_ACCOUNT)) return problem('NONCE', 'nonce')
    const { params, genesisHash } = state
    if (tx.fee < params.feePerByte * BigInt(bytes)) return problem('FEE', 'fee')
    if (tx.lastSlot < slot || tx.lastSlot > slot + params.epochSlots) return problem('EXPIRED', 'lastSlot')
    const [payerKey] = tx.payer
    const payer = payerKey === undefined ? place : findAccount(located(state), payerKey)
    if (payer === -1) return problem('ACCOUNT', 'payer')
    if (balanceOf(state.view.accounts, payer) < tx.fee) return problem('BALANCE', 'fee')
    const message = txMessage(genesisHash, tx)
    if (!this.checks.signature(tx.sig, message, tx.account)) return problem('SIGNATURE', 'sig')
    const isPaid = tx.payer.every((key, i) => this.checks.signature(tx.payerSig[i] ?? NONE, message, key))
    return isPaid && tx.payer.length === tx.payerSig.length ? null : problem('SIGNATURE', 'payerSig')
  }

  /** Another of the same nonce, or the worst paid of all, goes for one that pays a tenth more. */
  private makeRoom(entry: Entry, state: ChainState): Problem | null {
    const mine = this.byAccount.get(entry.account)
    const twin = mine?.get(entry.tx.nonce)
    const isFull = this.byId.size >= this.most || (mine?.size ?? 0) >= MOST_OF_ACCOUNT
    if (twin === undefined && isFull) this.forgetMined(state)
    const stillFull = this.byId.size >= this.most || (mine?.size ?? 0) >= MOST_OF_ACCOUNT
    const loser = twin ?? (stillFull ? this.worst() : undefined)
    if (loser === undefined) return null
    if (10n * rateOf(entry) < 11n * rateOf(loser)) return problem(twin ? 'TWICE' : 'FULL', 'fee')
    this.remove(loser)
    return null
  }

  /** What the branch of the head has taken already goes first. */
  private forgetMined(state: ChainState): void {
    for (const entry of [...this.byId.values()]) if (entry.tx.nonce < nonceIn(state, entry.tx)) this.remove(entry)
  }

  private worst(): Entry | undefined {
    let worst: Entry | undefined
    for (const entry of this.byId.values()) if (worst === undefined || rateOf(entry) < rateOf(worst)) worst = entry
    return worst
  }

  /** The best paid that can follow each other in a block of this slot. */
  pick(state: ChainState, slot: bigint): Tx[] {
    const able = [...this.byAccount.values()].flatMap((mine) => [...runOf(mine, state, slot, state.params.epochSlots)])
    able.sort((a, b) => (a.rate === b.rate ? 0 : a.rate > b.rate ? -1 : 1))
    const txs: Tx[] = []
    let room = Number(state.params.blockBytes) - COMMIT_BYTES
    for (const { entry } of able) {
      room -= 4 + txBytes(entry.tx)
      if (room < 0 || txs.length === MAX_BLOCK_TXS) break
      txs.push(entry.tx)
    }
    return txs
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

  private remove({ id, account, tx }: Entry): void {
    this.byId.delete(id)
    const mine = this.byAccount.get(account)
    if (mine?.get(tx.nonce)?.id === id) mine.delete(tx.nonce)
    if (mine?.size === 0) this.byAccount.delete(account)
  }
}

const NONE = new Uint8Array(64)
const refused = (wrong: Problem): Submitted => ({ kind: 'refused', problem: wrong })

function nonceIn(state: ChainState, { account }: Tx): bigint {
  const place = findAccount(located(state), account)
  return place === -1 ? 0n : nonceOf(state.view.accounts, place)
}

/** Those of an account that follow each other. One counts no more than those that must come before it. */
function* runOf(mine: ReadonlyMap<bigint, Entry>, state: ChainState, slot: bigint, epochSlots: bigint) {
  const [first] = mine.values()
  let nonce = nonceIn(state, first!.tx)
  let rate: bigint | null = null
  for (let entry = mine.get(nonce); entry !== undefined; entry = mine.get(++nonce)) {
    const { lastSlot } = entry.tx
    if (lastSlot < slot || lastSlot > slot + epochSlots) return
    const own = rateOf(entry)
    rate = rate === null || own < rate ? own : rate
    yield { entry, rate }
  }
}
