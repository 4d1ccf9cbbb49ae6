import { equalBytes } from '../../core/bytes/bytes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import type { AccountKeys } from '../../core/chain/accountKeys.ts'
import { BY_BOOT_WEIGHT, type Draft, makeBlock, SECONDARY } from '../../core/chain/applyBlock.ts'
import { type ChainState, type Checks, etaOf, findAccount, located } from '../../core/chain/chainState.ts'
import { type Quorum, spelledCommit } from '../../core/chain/consensus/vote.ts'
import { endEpoch } from '../../core/chain/epoch/endEpoch.ts'
import { lotteryNumber, secondaryAuthor, slotAlpha } from '../../core/chain/lottery.ts'
import { epochOf } from '../../core/chain/params.ts'
import type { Problem } from '../../core/chain/problems.ts'
import { PRECOMMIT } from '../../core/chain/recordCommit.ts'
import { eligibleIn, isJailed, leaderThreshold, lotteryPlace, votersOf } from '../../core/chain/snapshots.ts'
import { type Commit, encodeBlock, MAX_BLOCK_TXS, type Tx } from '../../core/chain/ssz.ts'
import { roomFor, sortOut } from '../../core/chain/transactions/checkTx.ts'

const NO_PROOF = new Uint8Array(80)
/** A commit of all voters fits beside the transactions of a block. */
const COMMIT_BYTES = 70_000

/** By the state of a block, the last that came of it: the end of an epoch takes a second where there are many boxes. */
const advanced = new WeakMap<ChainState, { readonly epoch: bigint; readonly state: ChainState }>()

/** The state of a branch once the epochs before a slot have ended without another block. */
export function stateAtSlot(state: ChainState, slot: bigint): ChainState {
  const epoch = epochOf(slot, state.params)
  if (state.view.epoch >= epoch) return state
  const known = advanced.get(state)
  if (known?.epoch === epoch) return known.state
  const view = state.view.clone()
  while (view.epoch < epoch) endEpoch({ state: view, accounts: view.accounts, params: state.params })
  view.commit()
  const there = { ...state, view }
  advanced.set(state, { epoch, state: there })
  return there
}

export type Right = Pick<Draft, 'kind' | 'vrfProof'>

/** What an account may make of a slot (§3.3), by the state at that slot; null for nothing. */
export function rightTo(
  state: ChainState,
  { signer, vrfKey }: AccountKeys,
  slot: bigint,
  isPrimary: boolean,
): Right | null {
  const { view, params, genesisHash } = state
  const epoch = epochOf(slot, params)
  const place = findAccount(located(state), signer.publicKey)
  if (place === -1 || isJailed(view.accounts.jailedUntil.get(place), epoch)) return null
  const entry = lotteryPlace(view, epoch, place)
  if (entry === null || !equalBytes(entry.vrfKey, vrfKey.publicKey)) return null
  const { draw, total, places } = eligibleIn(view, epoch)
  const eta = etaOf(view, epoch)
  const boot = entry.isBoot ? BY_BOOT_WEIGHT : 0
  if (!isPrimary)
    return places[secondaryAuthor(draw!, eta, slot)] === place ? { kind: SECONDARY + boot, vrfProof: NO_PROOF } : null
  const alpha = slotAlpha(genesisHash, eta, slot)
  const isWon = lotteryNumber(vrfKey.evaluate(alpha)) < leaderThreshold(params)(entry.weight, total)
  return isWon ? { kind: boot, vrfProof: vrfKey.prove(alpha) } : null
}

interface Order {
  /** After the block that this one stands on. */
  readonly state: ChainState
  readonly slot: bigint
  readonly right: Right
  readonly keys: AccountKeys
  readonly txs: readonly Tx[]
  /** What this node knows to be final. */
  readonly commits: readonly Quorum[]
  readonly checks: Checks
}

interface OwnBlock {
  readonly bytes: Uint8Array
  /** Transactions that no block on this branch can hold. */
  readonly misfits: readonly Tx[]
  /** Why the commit that it should record was left out, if it was. */
  readonly uncommitted: Problem | null
}

/** A block of the account's own: as many of the transactions, in their order, as fit. Null if not even an empty one does. */
export function makeOwnBlock({ state, slot, right, keys, txs, commits, checks }: Order): OwnBlock | null {
  const { signer } = keys
  const trusting = { ...checks, envelopesChecked: true }
  const limits = { slot, checks: trusting, room: Number(state.params.blockBytes) - COMMIT_BYTES }
  let sorted: ReturnType<typeof sortOut> | null = null
  let commit = commitFor(state, commits)
  let uncommitted: Problem | null = null
  let left = firstOf(txs, limits.room)
  for (;;) {
    const draft = { slot, author: signer.publicKey, ...right, body: { txs: left, commit } }
    const made = makeBlock(state, draft, signer.sign, trusting)
    if ('block' in made) return { bytes: encodeBlock(made.block), misfits: sorted?.misfits ?? [], uncommitted }
    const [, at] = /^body\.txs\[(\d+)\]/.exec(made.problem.where) ?? []
    if (at !== undefined && sorted === null) {
      sorted = sortOut(stateAtSlot(state, slot), txs, limits)
      left = sorted.fitting
    } else if (at !== undefined) {
      sorted!.misfits.push(left[Number(at)]!)
      left = left.slice(0, Number(at))
    } else if (commit.length > 0) {
      commit = []
      uncommitted = made.problem
    } else return null
  }
}

/** As many as a block has room for: nearly always all of them fit. */
function firstOf(txs: readonly Tx[], room: number): Tx[] {
  let left = room
  const end = txs.findIndex((tx, i) => {
    left -= roomFor(tx)
    return left < 0 || i === MAX_BLOCK_TXS
  })
  return end === -1 ? [...txs] : txs.slice(0, end)
}

/** The commit of the set that the branch knows as in charge, for the newest of its blocks that one is known of. */
function commitFor(state: ChainState, commits: readonly Quorum[]): Commit[] {
  const { view, head, params } = state
  const set = Number(epochOf(view.final.slot, params))
  const onBranch = new Map(view.blocks.getAllReadonlyValues().map(({ slot, hash }) => [toHex(hash), slot]))
  onBranch.set(toHex(head), view.slot)
  const isAble = ({ kind, set: of, target, targetSlot }: Quorum) =>
    kind === PRECOMMIT &&
    of === set &&
    onBranch.get(target) === BigInt(targetSlot) &&
    targetSlot > Number(view.final.slot)
  const fitting = commits.filter(isAble).at(-1)
  if (fitting === undefined) return []
  const { voters } = votersOf(state, BigInt(set))!
  return [
    spelledCommit(
      fitting,
      voters.map(({ key }) => toHex(key)),
    ),
  ]
}
