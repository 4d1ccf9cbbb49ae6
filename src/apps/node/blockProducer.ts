import { toHex } from '../../core/bytes/hex.ts'
import type { AccountKeys } from '../../core/chain/accountKeys.ts'
import type { ChainState, Checks } from '../../core/chain/chainState.ts'
import { WEEK } from '../../core/chain/params.ts'
import type { Log } from '../../ports/log.ts'
import type { Network } from '../../ports/network.ts'
import { makeOwnBlock, rightTo, stateAtSlot } from './blockMaker.ts'
import type { ChainKeeper } from './chainKeeper.ts'
import type { TxPool } from './txPool.ts'

interface ProducerDeps {
  readonly keeper: ChainKeeper
  readonly pool: TxPool
  readonly checks: Checks
  readonly log: Log
  /** The account that makes blocks; null makes none. */
  readonly keys: AccountKeys | null
}

/** Makes the blocks that an account has the right to, one a slot at most. */
export class BlockProducer {
  private readonly deps: ProducerDeps
  /** The last slot of a block of its own: two of one slot cost the bond. */
  private lastMade: number

  private constructor(deps: ProducerDeps, lastMade: number) {
    this.deps = deps
    this.lastMade = lastMade
  }

  /** Goes on after the last block of the account that is on disk. */
  static async open(deps: ProducerDeps): Promise<BlockProducer> {
    const { keeper, keys } = deps
    return new BlockProducer(deps, await keeper.lastSlotOf(keys === null ? '' : toHex(keys.signer.publicKey)))
  }

  /** The state after the head, its epochs ended up to that of the slot. */
  async stateFor(slot: bigint): Promise<ChainState> {
    return reached(await this.deps.keeper.headState(), slot)
  }

  /** Makes a block of this slot if the account may, takes it and tells others. */
  async make(slot: number, isPrimary: boolean, network: Network): Promise<void> {
    const { keys, checks, log, keeper, pool } = this.deps
    if (keys === null || Math.max(keeper.head.slot, this.lastMade) >= slot) return
    const at = BigInt(slot)
    const state = await keeper.headState()
    const there = reached(state, at)
    if (there.view.epoch < at / there.params.epochSlots) return
    const right = rightTo(there, keys, at, isPrimary)
    if (right === null) return
    const txs = pool.pick(state, at, toHex(keys.signer.publicKey))
    const made = makeOwnBlock({ state, slot: at, right, keys, txs, commits: keeper.quorumsSince(0), checks })
    for (const misfit of made?.misfits ?? []) pool.drop(misfit)
    if (made === null) return log.warn('no block could be made', { slot })
    if (made.uncommitted !== null) log.warn('a block leaves out what is final', { slot, ...made.uncommitted })
    this.lastMade = slot
    const [result] = await keeper.take([made.bytes], { right: 1, drawn: [] })
    if (result?.kind === 'added') await network.publish('blocks', made.bytes)
  }
}

/** Nobody can build on what stood still for longer than a week (§3.2.13): its epochs are not worked through. */
const reached = (state: ChainState, slot: bigint): ChainState =>
  slot / state.params.epochSlots > state.view.epoch + WEEK ? state : stateAtSlot(state, slot)
