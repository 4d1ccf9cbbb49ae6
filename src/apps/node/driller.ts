import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256, taggedHash } from '../../core/bytes/sha256.ts'
import { weightOf } from '../../core/chain/accounting.ts'
import type { AccountKeys } from '../../core/chain/accountKeys.ts'
import { type ChainState, findAccount, located } from '../../core/chain/chainState.ts'
import { type DrillerKeys, type DueMove, drilledTasks, drillMoves } from '../../core/chain/drilling/drillMoves.ts'
import { type DrillResult, drillResult } from '../../core/chain/drilling/drillResult.ts'
import { joinMoves } from '../../core/chain/drilling/joinMoves.ts'
import type { Task } from '../../core/chain/drilling/task.ts'
import { ALL_LIVE, PRODUCT_KIND, productLength } from '../../core/work/drilled/productTask.ts'
import type { ChainNode } from '../../ports/chainNode.ts'
import type { Log } from '../../ports/log.ts'
import { stateAtSlot } from './blockMaker.ts'
import { Sender } from './sender.ts'

export interface DrillerDeps {
  readonly node: ChainNode
  readonly keys: AccountKeys
  /** The key of the machine that does the work. */
  readonly box: Signer
  readonly log: Log
  /** Asked for as long as the account is not on the chain: it needs a deposit. */
  fund(state: ChainState): Promise<void>
  /** The chunks of a task. */
  execute(seed: Uint8Array, k: number, depth: number): Promise<readonly Uint8Array[]>
}

/**
 * Drills for an account (§5.2): joins, does the tasks that it is drawn for, and commits, reveals and opens in time. It
 * keeps nothing: after a restart results are computed again, and what hid them follows from the key.
 */
export class Driller {
  private readonly deps: DrillerDeps
  private readonly sender: Sender
  private readonly results = new Map<string, DrillResult>()
  /** Tasks in the order in which they are done. */
  private queue: Task[] = []
  private isExecuting = false
  private isActing = false
  private isStopped = false
  private credited = -1n
  private readonly unsubscribe: () => void

  constructor(deps: DrillerDeps) {
    this.deps = deps
    this.sender = new Sender(deps.node, deps.keys.signer)
    this.unsubscribe = deps.node.subscribe(({ kind }) => {
      if (kind === 'head') void this.act()
    })
  }

  stop(): void {
    this.isStopped = true
    this.unsubscribe()
  }

  /** Everything that is due on the head as it is now. */
  private async act(): Promise<void> {
    const { node, log } = this.deps
    if (this.isActing || this.isStopped || node.status().isSyncing) return
    this.isActing = true
    try {
      const state = stateAtSlot(await node.headState(), BigInt(node.status().slot))
      const place = findAccount(located(state), this.key)
      if (place === -1) await this.deps.fund(state)
      else await this.actAs(state, place)
    } catch (error) {
      log.error('drilling failed', { why: error instanceof Error ? error.message : String(error) })
    } finally {
      this.isActing = false
    }
  }

  private get key(): Uint8Array {
    return this.deps.keys.signer.publicKey
  }

  private async actAs(state: ChainState, place: number): Promise<void> {
    const { keys, box } = this.deps
    const own: DrillerKeys = {
      ...{ place, key: this.key, vrfKey: keys.vrfKey },
      nonceOf: ({ id, seed }) => sha256(keys.signer.sign(taggedHash('ts1/drillNonce', state.genesisHash, id, seed))),
    }
    this.tellCredit(state, place)
    this.plan(state, drilledTasks(state, own))
    const resultOf = (task: Task) => this.results.get(nameOf(task)) ?? null
    const moves: DueMove[] = [...joinMoves(state, { ...own, box }), ...drillMoves(state, own, resultOf)]
    for (const { kind, payload, about } of moves) {
      const refusal = await this.sender.send(state, { kind, payload }, about)
      if (refusal !== null) this.deps.log.warn('the chain would refuse it', { kind, ...refusal })
    }
  }

  /** What is no longer asked for is forgotten, what is new is queued. */
  private plan(state: ChainState, tasks: readonly Task[]): void {
    const wanted = new Set(tasks.map(nameOf))
    for (const name of [...this.results.keys()]) if (!wanted.has(name)) this.results.delete(name)
    this.queue = tasks.filter((task) => !this.results.has(nameOf(task)))
    if (!this.isExecuting) void this.executeAll(state)
  }

  private async executeAll(state: ChainState): Promise<void> {
    this.isExecuting = true
    try {
      for (let task = this.queue.shift(); task !== undefined && !this.isStopped; task = this.queue.shift()) {
        const { kind, work, depth } = state.view.projects.getReadonly(task.project)
        const k = kind === PRODUCT_KIND ? productLength(work, depth) : null
        if (k === null) continue
        const chunks = await this.deps.execute(task.seed, k, depth)
        this.results.set(nameOf(task), drillResult(this.key, chunks, ALL_LIVE))
        if (!this.isStopped) void this.act()
      }
    } catch (error) {
      this.deps.log.error('a task failed', { why: error instanceof Error ? error.message : String(error) })
    } finally {
      this.isExecuting = false
    }
  }

  private tellCredit({ view: { accounts } }: ChainState, place: number): void {
    const total = accounts.drilledTotal.get(place)
    if (total === this.credited) return
    const isFirst = this.credited === -1n
    this.credited = total
    const power = {
      ...{ drilled: accounts.drilled.get(place), trained: accounts.trained.get(place) },
      ...{ failed: accounts.failed.get(place), settled: accounts.settled.get(place) },
    }
    if (!isFirst) this.deps.log.info('drilled', { total: String(total), weight: String(weightOf(power)) })
  }
}

const nameOf = ({ id, seed }: Task): string => `${toHex(id)}/${toHex(seed)}`
