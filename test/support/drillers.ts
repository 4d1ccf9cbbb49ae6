import { taggedHash } from '../../src/core/bytes/sha256.ts'
import { type ChainState, etaOf, findAccount, located } from '../../src/core/chain/chainState.ts'
import { type DrillerKeys, type DueMove, drillMoves } from '../../src/core/chain/drilling/drillMoves.ts'
import { drillResult, openingAt } from '../../src/core/chain/drilling/drillResult.ts'
import { treeNode } from '../../src/core/chain/drilling/resultTree.ts'
import { hasLeader, MARK, PHASE, resultClass, type Task } from '../../src/core/chain/drilling/task.ts'
import { genesisState } from '../../src/core/chain/genesisState.ts'
import type { Genesis } from '../../src/core/chain/genesisType.ts'
import { compareBytes } from '../../src/core/chain/snapshots.ts'
import type { Tx } from '../../src/core/chain/ssz.ts'
import {
  boxAddMessage,
  boxAlpha,
  isBoxDrawn,
  reportCommitment,
  runMessage,
} from '../../src/core/chain/transactions/boxes.ts'
import * as payloads from '../../src/core/chain/transactions/payloads.ts'
import * as world from './chainWorld.ts'

/** What a driller answers in the place of the chunk; null stands for the right one. */
export type Behaviour = {
  /** The chunk at a place of a task, or null for the right one. */
  readonly chunk?: (task: Task, index: number) => Uint8Array | null
  readonly commits?: boolean
  readonly reveals?: boolean
  readonly opens?: boolean
  /** The share of live operations that it says, in 65 535ths. */
  readonly live?: number
}

/** An entry of a project's gold tree. */
export type Gold = ReturnType<typeof payloads.DisputeMoveType.defaultValue>['gold'][number]

const FULL_LIVE = 65_535
const CAPACITY = 10_000_000n
/** A task that fills nine tenths of the epoch of a driller. */
const ONE_TASK_EACH = { project: { work: 9_000_000n, depth: 4 } }

/** A chain with one validator and a box for each driller, all drilled by the rules or as a behaviour says. */
export class Drillers {
  state: ChainState
  readonly names: readonly string[]
  readonly behaviours: Record<string, Behaviour>
  readonly more: Partial<Genesis>
  /** More to do in a block, such as an appeal. */
  extra: ((state: ChainState) => Tx[]) | null = null
  #salts = new Map<bigint, Uint8Array>()

  constructor(names: readonly string[], behaviours: Record<string, Behaviour> = {}, more: Partial<Genesis> = {}) {
    const accounts = names.map((name) => world.accountNamed(name))
    const judge = world.accountNamed('judge', { stake: world.tokens(10_000), drilled: 0n })
    this.names = names
    this.behaviours = behaviours
    this.more = more
    this.state = genesisState(
      world.genesisOf([...accounts, judge], { ...ONE_TASK_EACH, authorities: [judge.key], ...more }),
    )
    const setUp = names.flatMap((name) => this.#setUp(name))
    this.state = block(this.state, setUp, this.state.view.slot + 1n)
  }

  #setUp(name: string): Tx[] {
    const [key, box] = [world.keyNamed(name), world.keyNamed(`${name} box`)]
    const boxSig = world.signAs(box, boxAddMessage(this.state.genesisHash, box, key))
    const deposit = payloads.LockType.serialize({ purpose: 2, amount: world.tokens(10) })
    return [
      world.txOf(this.state, key, 4, payloads.BoxAddType.serialize({ box, boxSig })),
      world.txOf(this.state, key, 2, deposit, { nonce: 1n }),
    ]
  }

  place(name: string): number {
    return findAccount(located(this.state), world.keyNamed(name))
  }

  totals(): bigint[] {
    return this.names.map((name) => this.state.view.accounts.drilledTotal.get(this.place(name)))
  }

  failures(): bigint[] {
    const { accounts } = this.state.view
    return this.names.map((name) => accounts.failed.get(this.place(name)) + accounts.failedNow.get(this.place(name)))
  }

  /** Until everybody is ready; the first tasks are drawn three epochs later. */
  runToReady(): this {
    const isReady = (name: string) => this.state.view.accounts.ready.get(this.place(name)) === 1
    while (!this.names.every(isReady)) this.runTo(this.state.view.epoch + 1n)
    return this
  }

  tasks(): Task[] {
    return this.state.view.tasks.getAllReadonlyValues()
  }

  /** Blocks until an epoch begins: three in each epoch, so that every phase has its transactions. */
  runTo(epoch: bigint): void {
    while (this.state.view.epoch < epoch) {
      const { slot, epoch: now } = this.state.view
      const start = now * this.state.params.epochSlots
      const slots = [start + 2n, start + 4n, start + 6n, start + 10n]
      const next = slots.find((each) => each > slot)!
      this.state = this.#blockOf(next === start + 10n ? [] : this.#moves(), next)
    }
  }

  /** Two may appeal in one block, and one comes first; everything else that is due is taken. */
  #blockOf(txs: Tx[], slot: bigint): ChainState {
    const made = world.make(this.state, this.#numbered(txs), slot)
    if ('state' in made) return made.state
    const [, at] = /^body\.txs\[(\d+)\]/.exec(made.problem.where) ?? []
    const isRace = this.disputes && at !== undefined && txs[Number(at)]!.kind === 15
    if (!isRace) throw new Error(`${made.problem.code} ${made.problem.where}`)
    return this.#blockOf(
      txs.filter((_, i) => i !== Number(at)),
      slot,
    )
  }

  #moves(): Tx[] {
    return [...this.#judge(), ...this.names.flatMap((name) => this.#drill(name)), ...(this.extra?.(this.state) ?? [])]
  }

  #numbered(txs: readonly Tx[]): Tx[] {
    // One transaction after the other of an account: nonces in order.
    const next = new Map<string, bigint>()
    return txs.map((tx) => {
      const nonce = next.get(tx.account.join()) ?? tx.nonce
      next.set(tx.account.join(), nonce + 1n)
      return world.txOf(this.state, tx.account, tx.kind, tx.payload, { nonce, lastSlot: this.state.view.slot + 9n })
    })
  }

  /** The validator: commits to a report and reveals that of the epoch before. */
  #judge(): Tx[] {
    const { view } = this.state
    const key = world.keyNamed('judge')
    const reports = view.reports.getAllReadonlyValues()
    const epoch = view.epoch
    const revealTx = reports
      .filter((report) => report.epoch + 1n === epoch && report.revealed === 0)
      .map((report) => world.txOf(this.state, key, 7, payloads.RevealType.serialize(this.#report(report.epoch))))
    const isDone = reports.some((report) => report.epoch === epoch)
    if (isDone || view.slot % 10n >= 6n) return revealTx
    const commitment = reportCommitment(key, this.#report(epoch))
    return [...revealTx, world.txOf(this.state, key, 6, payloads.ReportType.serialize({ epoch, commitment }))]
  }

  #report(epoch: bigint) {
    const salt = this.#salts.get(epoch) ?? taggedHash('salt', Uint8Array.of(Number(epoch)))
    this.#salts.set(epoch, salt)
    const [key, vrfKey] = [world.keyNamed('judge'), world.keyNamed('judge vrf')]
    const alpha = boxAlpha(etaOf(this.state.view, epoch))
    const drawn = this.names
      .map((name) => world.keyNamed(`${name} box`))
      .filter((box) => isBoxDrawn(world.betaOf(vrfKey, alpha), box))
      .sort(compareBytes)
    const entries = drawn.map((box) => ({
      ...payloads.EntryType.defaultValue(),
      ...{ box, capacity: CAPACITY, score: 1_000n, certificate: world.NO_BYTES(32) },
      boxSig: world.signAs(box, runMessage(this.state.genesisHash, epoch, key, world.NO_BYTES(32))),
    }))
    return { epoch, salt, vrfProof: world.proofOf(vrfKey, alpha), entries }
  }

  #drill(name: string): Tx[] {
    const [key, place] = [world.keyNamed(name), this.place(name)]
    const { accounts } = this.state.view
    const tx = (kind: number, payload: Uint8Array) => world.txOf(this.state, key, kind, payload)
    if (accounts.ready.get(place) === 0)
      return this.#isFirstDay(place) ? [tx(11, payloads.ReadyType.serialize({ classes: 1 }))] : []
    return drillMoves(this.state, this.#keys(name), (task) => this.result(name, task))
      .filter((move) => this.#does(name, move))
      .map(({ kind, payload }) => tx(kind, payload))
  }

  #keys(name: string): DrillerKeys {
    const vrf = world.keyNamed(`${name} vrf`)
    return {
      ...{ place: this.place(name), key: world.keyNamed(name), nonceOf: () => world.NO_BYTES(32) },
      vrfKey: {
        publicKey: vrf,
        evaluate: (alpha) => world.betaOf(vrf, alpha),
        prove: (alpha) => world.proofOf(vrf, alpha),
      },
    }
  }

  /** Whether an account does what is due: by its behaviour. */
  #does(name: string, { kind, payload }: DueMove): boolean {
    const { commits = true, reveals = true, opens = true } = this.behaviours[name] ?? {}
    const [COMMIT, REVEAL, OPEN, DISPUTE] = [12, 13, 14, 15]
    if (kind === COMMIT) return commits && (this.audits || payload.subarray(64).every((byte) => byte === 0))
    if (kind === REVEAL) return reveals
    if (kind === DISPUTE) return this.disputes && this.behaviours[name] === undefined
    if (kind !== OPEN || !opens) return false
    // A liar who knows that its chunk is wrong has nothing to show.
    const { task: id, openings } = payloads.DrillOpenType.deserialize(payload)
    const task = this.tasks().find((each) => each.id.join() === id.join())!
    return openings.every(({ index, bytes }) => bytes.join() === this.right(task, index).join())
  }

  /** All start together, once the validator has seen every box. */
  #isFirstDay(place: number): boolean {
    const { accounts } = this.state.view
    return (
      accounts.drillsFrom.get(place) === 0n && this.names.every((each) => accounts.capacity.get(this.place(each)) > 0n)
    )
  }

  /** The same chain from here on, with other behaviours. */
  with(behaviours: Record<string, Behaviour>): Drillers {
    return Object.assign(new Drillers(this.names, behaviours, this.more), { state: this.state })
  }

  /** Set by a test that wants audits. */
  audits = false
  /** Set by a test in which the honest appeal and answer by themselves; others leave that to `extra`. */
  disputes = false

  /** A leaf with its ways to both roots, as one driller has them. */
  opening(name: string, task: Task, index: number) {
    return openingAt(this.result(name, task), index)
  }

  right(task: Task, index: number): Uint8Array {
    const { graph } = this.state.view.projects.getReadonly(task.project)
    return world.chunkOf({ ...task, graph }, index)
  }

  /**
   * The moves that are due in all appeals: by challengers against the leader, and by defenders with what they computed. A
   * challenger with a gold entry needs no replica.
   */
  appeals(
    challengers: readonly string[],
    defenders: readonly string[],
    seen: { appeals: number },
    goldOf: (task: Task) => Gold[] = () => [],
  ): Tx[] {
    return this.tasks().flatMap((task) => {
      if (task.phase !== PHASE.appeal) return []
      const [dispute] = task.dispute
      const stands = (name: string) =>
        task.replicas.some((each) => each.account === this.place(name) && each.mark === MARK.none)
      const classOf = (name: string) => resultClass(task.id, this.result(name, task))
      const blank = { ...payloads.DisputeMoveType.defaultValue(), task: task.id }
      const move = (name: string, more: Partial<typeof blank>) => [
        world.txOf(this.state, world.keyNamed(name), 15, payloads.DisputeMoveType.serialize({ ...blank, ...more })),
      ]
      if (dispute === undefined) {
        const gold = goldOf(task)
        const challenger = challengers.find(
          (name) => (stands(name) || gold.length > 0) && classOf(name).join() !== task.leader.join(),
        )
        const accused = defenders.find(
          (name) => stands(name) && (!hasLeader(task) || classOf(name).join() === task.leader.join()),
        )
        if (challenger === undefined || accused === undefined) return []
        seen.appeals++
        return move(challenger, { move: 0, accused: classOf(accused), gold })
      }
      const defender = defenders.find((name) => stands(name) && classOf(name).join() === dispute.accused.join())!
      const challenger = challengers.find((name) => this.place(name) === dispute.challenger)!
      const nodes = (name: string, depth: number) => levelOf(this.result(name, task).leaves, task.depth - depth)
      if (dispute.turn === 1) {
        const depth = dispute.depth + Math.log2(dispute.children.length)
        const mine = nodes(challenger, depth).slice(Number(dispute.place) * dispute.children.length)
        const child = dispute.children.findIndex((hash, i) => hash.join() !== mine[i]!.join())
        return move(challenger, { move: 2, child })
      }
      if (dispute.depth < task.depth) {
        const levels = Math.min(4, task.depth - dispute.depth)
        const at = Number(dispute.place) * 2 ** levels
        return move(defender, {
          move: 1,
          children: nodes(defender, dispute.depth + levels).slice(at, at + 2 ** levels),
        })
      }
      const opening = this.opening(defender, task, Number(dispute.place))
      const isRight = opening.bytes.join() === this.right(task, opening.index).join()
      return isRight ? move(defender, { move: 3, opening: [opening] }) : []
    })
  }

  #results = new Map<string, ReturnType<Drillers['compute']>>()

  result(name: string, task: Task) {
    const known = `${name} ${task.seed.join()}`
    const result = this.#results.get(known) ?? this.compute(name, task)
    this.#results.set(known, result)
    return result
  }

  compute(name: string, task: Task) {
    const { chunk } = this.behaviours[name] ?? {}
    const key = world.keyNamed(name)
    const chunks = Array.from(
      { length: 2 ** task.depth },
      (_, index) => chunk?.(task, index) ?? this.right(task, index),
    )
    const result = drillResult(key, chunks, this.behaviours[name]?.live ?? FULL_LIVE)
    return { ...result, ...result.shown }
  }
}

/** The state after a block; its maker checks all of it but its own signature. */
function block(state: ChainState, txs: Tx[], slot: bigint): ChainState {
  const made = world.make(state, txs, slot)
  if ('problem' in made) throw new Error(`${made.problem.code} ${made.problem.where}`)
  return made.state
}

/** The level of a tree so many steps above its leaves. */
function levelOf(leaves: readonly Uint8Array[], steps: number): Uint8Array[] {
  let level = [...leaves]
  for (let i = 0; i < steps; i++)
    level = Array.from({ length: level.length >> 1 }, (_, at) => treeNode(level[2 * at]!, level[2 * at + 1]!))
  return level
}
