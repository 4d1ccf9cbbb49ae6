import { equalBytes } from '../../../core/bytes/bytes.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import { taggedHash } from '../../../core/bytes/sha256.ts'
import { votingWeightOf, weightOf } from '../../../core/chain/accounting.ts'
import { etaOf } from '../../../core/chain/chainState.ts'
import { resultLeaf, traceLeaf, treeNode, treePath, treeRoot } from '../../../core/chain/drilling/resultTree.ts'
import {
  AFTER,
  auditAlpha,
  classesOf,
  drawnPatches,
  drillCommitment,
  hasLeader,
  MARK,
  mustOpen,
  ORIGIN,
  PHASE,
  type Replica,
  resultClass,
  type Task,
} from '../../../core/chain/drilling/task.ts'
import { lotteryNumber } from '../../../core/chain/lottery.ts'
import { drawList, snapshotFor } from '../../../core/chain/snapshots.ts'
import { thresholdFor } from '../../../core/chain/threshold.ts'
import * as payloads from '../../../core/chain/transactions/payloads.ts'
import { type ActedChain, DEPTH, rightChunk } from './actedChain.ts'

const [LOCK, READY, COMMIT, REVEAL, OPEN, DISPUTE] = [2, 11, 12, 13, 14, 15]
const DEPOSIT = 2
/** Of 65 535: the live share of every right result here. */
const LIVE = 60_000
const NONCE = new Uint8Array(32)

/** How an account drills; all that is left out is as the protocol asks. */
export interface Drilling {
  readonly name: string
  /** The name of a wrong result that it shows; those of one name agree on it. Null: the right one. */
  lie?(task: Task, accounts: readonly number[]): string | null
  readonly commits?: boolean
  /** Epochs after the draw in which it commits: 0 or 1. */
  readonly commitsAfter?: number
  readonly reveals?: boolean
  /** The live share that it claims. */
  readonly live?: number
}

interface Result {
  readonly chunks: readonly Uint8Array[]
  readonly leaves: readonly Uint8Array[]
  readonly traces: readonly Uint8Array[]
  readonly shown: { readonly resultRoot: Uint8Array; readonly traceRoot: Uint8Array; readonly live: number }
}

/** Accounts that drill on an acted chain, each in its own way. */
export class Drillers {
  readonly chain: ActedChain
  readonly ways: ReadonlyMap<number, Drilling>
  /** Replicas of each account in tasks that are over, from `startCounting` on. */
  private readonly ended = new Map<number, number>()
  /** Epochs that each of those tasks took, and how many of its replicas each account had. */
  readonly endedTasks: { readonly epochs: number; readonly accounts: readonly number[] }[] = []
  private isCounting = false
  private hasOpened = false
  private before = new Map<number, bigint>()
  private running = new Map<string, Task>()
  private readonly drawnIn = new Map<string, bigint>()
  private readonly results = new Map<string, Result>()
  private readonly lies = new Map<string, string | null>()
  private readonly accountAt = new Map<number, number>()

  constructor(chain: ActedChain, ways: ReadonlyMap<number, Drilling>) {
    this.chain = chain
    this.ways = ways
    for (const account of ways.keys()) this.accountAt.set(chain.place(account), account)
    for (const account of ways.keys()) this.lockDeposit(account, 10n ** 10n)
  }

  /** Tasks that end from now on count. */
  startCounting(): void {
    this.isCounting = true
    for (const account of this.ways.keys()) {
      this.ended.set(account, 0)
      this.before.set(account, this.everOf(account))
    }
  }

  /** All that is due in this state. */
  act(): void {
    const tasks = this.chain.state.view.tasks.getAllReadonlyValues()
    for (const account of this.ways.keys()) {
      this.getReady(account)
      for (const task of tasks) this.answer(account, task)
    }
    for (const task of tasks) if (task.phase === PHASE.appeal) this.dispute(task)
  }

  /** To be called before an epoch ends and after it has: which tasks are over. */
  note(): void {
    const tasks = this.chain.state.view.tasks.getAllReadonlyValues()
    const now = new Map(tasks.map((task) => [toHex(task.id), task]))
    for (const [id, { epoch }] of now) if (!this.drawnIn.has(id)) this.drawnIn.set(id, epoch)
    if (this.isCounting) for (const [id, task] of this.running) if (!now.has(id)) this.count(id, task)
    this.running = now
  }

  private count(id: string, { replicas }: Task): void {
    const accounts = replicas.flatMap(({ account }) => this.accountAt.get(account) ?? [])
    for (const account of accounts) this.ended.set(account, this.replicasOf(account) + 1)
    this.endedTasks.push({ epochs: Number(this.chain.epoch - this.drawnIn.get(id)!), accounts })
  }

  replicasOf(account: number): number {
    return this.ended.get(account) ?? 0
  }

  /** w, as the next snapshot would have it. */
  weightOf(account: number): bigint {
    return weightOf(this.powerOf(account))
  }

  /** v, as the next snapshot would have it. */
  voteOf(account: number): bigint {
    return votingWeightOf(this.powerOf(account))
  }

  private powerOf(account: number) {
    const { drilled, trained, failed, settled } = this.chain.state.view.accounts
    const at = this.chain.place(account)
    return { drilled: drilled.get(at), trained: trained.get(at), failed: failed.get(at), settled: settled.get(at) }
  }

  /** Credits of the account since counting began, in µut. */
  creditOf(account: number): bigint {
    return this.everOf(account) - (this.before.get(account) ?? 0n)
  }

  /** All credit ever, in µut. */
  everOf(account: number): bigint {
    return this.chain.state.view.accounts.drilledTotal.get(this.chain.place(account))
  }

  private getReady(account: number): void {
    const { accounts, epoch } = this.chain.state.view
    const place = this.chain.place(account)
    const missing = 10n ** 10n - accounts.deposit.get(place)
    if (missing > 0n) this.lockDeposit(account, missing)
    const isOut = accounts.drillsFrom.get(place) > epoch
    if (accounts.ready.get(place) === 0 && this.isOpen() && missing <= 0n && !isOut)
      this.chain.send(account, READY, payloads.ReadyType.serialize({ classes: 1 }))
  }

  /** All start together, once every box was seen. */
  private isOpen(): boolean {
    const { capacity } = this.chain.state.view.accounts
    this.hasOpened ||= [...this.ways.keys()].every((account) => capacity.get(this.chain.place(account)) > 0n)
    return this.hasOpened
  }

  private lockDeposit(account: number, amount: bigint): void {
    this.chain.send(account, LOCK, payloads.LockType.serialize({ purpose: DEPOSIT, amount }))
  }

  private answer(account: number, task: Task): void {
    if (task.phase !== PHASE.running) return
    const place = this.chain.place(account)
    const way = this.ways.get(account)!
    const age = this.chain.epoch - task.epoch
    const replica = task.replicas.find((each) => each.account === place && each.mark === MARK.none)
    if (replica === undefined) this.audit(account, task)
    else if (replica.committed === 0n) {
      // Who was drawn again has one epoch only.
      const wait = replica.drawn === task.epoch ? BigInt(way.commitsAfter ?? 0) : 0n
      const isDue = way.commits !== false && this.chain.epoch >= replica.drawn + wait
      if (isDue && isInTime(replica, task, age)) this.commit(account, task, new Uint8Array(80))
    } else if (age === AFTER.reveal && replica.revealed === 0 && way.reveals !== false)
      this.chain.send(account, REVEAL, this.reveal(account, task))
    else if (age === AFTER.open && replica.opened === 0) this.open(account, task, replica)
  }

  private commit(account: number, task: Task, vrfProof: Uint8Array): void {
    const { shown } = this.resultOf(account, task)
    const commitment = drillCommitment(task.id, this.chain.keyOf(account), shown, NONCE)
    this.chain.send(account, COMMIT, payloads.DrillCommitType.serialize({ task: task.id, commitment, vrfProof }))
  }

  private reveal(account: number, task: Task): Uint8Array {
    return payloads.DrillRevealType.serialize({ task: task.id, ...this.resultOf(account, task).shown, nonce: NONCE })
  }

  /** Whoever the lottery lets in checks a pair. */
  private audit(account: number, task: Task): void {
    const { view, params } = this.chain.state
    const drawn = task.replicas.filter(({ origin, drawn: of }) => origin === ORIGIN.drawn && of === task.epoch)
    const place = this.chain.place(account)
    const isDue = view.epoch === task.epoch + AFTER.secondCommit && drawn.length === Number(params.trustedReplicas)
    if (!isDue || task.replicas.some((each) => each.account === place)) return
    const { capacity } = snapshotFor(view, view.epoch)
    const mine = place < capacity.length ? capacity.get(place) : 0n
    if (mine === 0n) return
    const { total } = drawList(capacity.getAll(), view.accounts.key)
    const { vrfKey } = this.chain.accounts[account]!
    const alpha = auditAlpha(etaOf(view, view.epoch), task.id)
    const f = { numerator: params.auditNumerator, denominator: params.auditDenominator }
    if (lotteryNumber(vrfKey.evaluate(alpha)) < thresholdFor(f)(mine, total))
      this.commit(account, task, vrfKey.prove(alpha))
  }

  /** Who lied where it is asked has nothing to show. */
  private open(account: number, task: Task, replica: Replica): void {
    const { view } = this.chain.state
    const eta = etaOf(view, view.epoch)
    if (!mustOpen(eta, task, replica, this.chain.keyOf(account))) return
    const openings = drawnPatches(eta, task).map((index) => this.opening(account, task, index))
    if (openings.every(({ index, bytes }) => equalBytes(bytes, rightChunk(task.seed, index))))
      this.chain.send(account, OPEN, payloads.DrillOpenType.serialize({ task: task.id, openings }))
  }

  private opening(account: number, task: Task, index: number) {
    const { chunks, leaves, traces } = this.resultOf(account, task)
    const paths = { resultPath: treePath(leaves, index), tracePath: treePath(traces, index) }
    return { index, bytes: chunks[index]!, inputs: [], ...paths }
  }

  /** Appeals and the moves in them: who is right appeals against a wrong leader, or against any other if there is none. */
  private dispute(task: Task): void {
    const standing = task.replicas.filter(({ mark, revealed }) => mark === MARK.none && revealed === 1)
    const accounts = standing.flatMap(({ account }) => this.accountAt.get(account) ?? [])
    const classOf = (account: number) => resultClass(task.id, this.resultOf(account, task).shown)
    const [dispute] = task.dispute
    const accused = accounts.find((account) => dispute && equalBytes(classOf(account), dispute.accused))
    if (dispute === undefined) this.appeal(task, accounts, classOf)
    else if (dispute.turn === 1) this.choose(task, this.accountAt.get(dispute.challenger)!)
    else if (accused === undefined) return
    else if (dispute.depth < task.depth) this.split(task, accused)
    else this.show(task, accused)
  }

  private show(task: Task, accused: number): void {
    const opening = this.opening(accused, task, Number(task.dispute[0]!.place))
    if (equalBytes(opening.bytes, rightChunk(task.seed, opening.index)))
      this.move(accused, task, { move: 3, opening: [opening] })
  }

  private appeal(task: Task, accounts: readonly number[], classOf: (account: number) => Uint8Array): void {
    const right = accounts.find((account) => this.lieOf(account, task) === null && this.liveOf(account) === LIVE)
    if (right === undefined) return
    const mine = classOf(right)
    const isOther = ({ u }: { readonly u: Uint8Array }) => !equalBytes(u, mine)
    // Against the leader, or, if that is its own class or there is none, against any that is wrong.
    const isFree = !hasLeader(task) || equalBytes(task.leader, mine)
    const isWrong = ({ u }: { readonly u: Uint8Array }) =>
      accounts.some((each) => equalBytes(classOf(each), u) && this.lieOf(each, task) !== null)
    const isAllowed = ({ u }: { readonly u: Uint8Array }) => isFree || equalBytes(u, task.leader)
    const accused = classesOf(task).find((each) => isOther(each) && isAllowed(each) && isWrong(each))
    if (accused !== undefined) this.move(right, task, { move: 0, accused: accused.u })
  }

  private split(task: Task, accused: number): void {
    const { depth, place } = task.dispute[0]!
    const levels = Math.min(4, task.depth - depth)
    const nodes = levelOf(this.resultOf(accused, task).leaves, task.depth - depth - levels)
    const at = Number(place) * 2 ** levels
    this.move(accused, task, { move: 1, children: nodes.slice(at, at + 2 ** levels) })
  }

  private choose(task: Task, challenger: number): void {
    const { depth, place, children } = task.dispute[0]!
    const below = depth + Math.log2(children.length)
    const mine = levelOf(this.resultOf(challenger, task).leaves, task.depth - below)
    const at = Number(place) * children.length
    this.move(challenger, task, { move: 2, child: children.findIndex((hash, i) => !equalBytes(hash, mine[at + i]!)) })
  }

  private move(account: number, { id }: Task, more: Partial<ReturnType<typeof blankMove>>): void {
    this.chain.send(account, DISPUTE, payloads.DisputeMoveType.serialize({ ...blankMove(), task: id, ...more }))
  }

  private liveOf(account: number): number {
    return this.ways.get(account)!.live ?? LIVE
  }

  /** Decided once for a task: who has committed cannot think again. */
  private lieOf(account: number, task: Task): string | null {
    const name = `${account}/${toHex(task.seed)}`
    const known = this.lies.get(name)
    if (known !== undefined) return known
    const accounts = task.replicas.flatMap((each) => this.accountAt.get(each.account) ?? [])
    const lie = this.ways.get(account)!.lie?.(task, accounts) ?? null
    this.lies.set(name, lie)
    return lie
  }

  private resultOf(account: number, task: Task): Result {
    const name = `${account}/${toHex(task.seed)}`
    const known = this.results.get(name)
    if (known !== undefined) return known
    const lie = this.lieOf(account, task)
    // One wrong leaf: the fewest that an opening can hit.
    const chunks = Array.from({ length: 2 ** DEPTH }, (_, i) =>
      lie !== null && i === 3 ? taggedHash(`simulate/lie/${lie}`, task.seed) : rightChunk(task.seed, i),
    )
    const leaves = chunks.map((bytes, i) => resultLeaf(i, bytes))
    const traces = chunks.map((bytes, i) => traceLeaf(this.chain.keyOf(account), i, bytes))
    const shown = { resultRoot: treeRoot(leaves), traceRoot: treeRoot(traces), live: this.liveOf(account) }
    const result = { chunks, leaves, traces, shown }
    this.results.set(name, result)
    return result
  }
}

const blankMove = () => payloads.DisputeMoveType.defaultValue()

const isInTime = (replica: Replica, task: Task, age: bigint): boolean =>
  age <= (replica.drawn === task.epoch ? AFTER.commit : AFTER.secondCommit)

/** The level of a tree so many steps above its leaves. */
function levelOf(leaves: readonly Uint8Array[], steps: number): readonly Uint8Array[] {
  let level = leaves
  for (let i = 0; i < steps; i++)
    level = Array.from({ length: level.length >> 1 }, (_, at) => treeNode(level[2 * at]!, level[2 * at + 1]!))
  return level
}
