import { equalBytes } from '../bytes/bytes.ts'
import { votingWeightOf, weightOf } from './accounting.ts'
import type { ChainState } from './chainState.ts'
import { etaOf } from './chainState.ts'
import type { ChainParams } from './params.ts'
import { Keys, ProjectsType, SnapshotType, type SnapshotView, type StateView, U64s, VoterSetType } from './stateType.ts'
import { type Threshold, thresholdFor } from './threshold.ts'
import { votingSet } from './votingSet.ts'
import { type WeightedDraw, weightedDraw } from './weightedDraw.ts'

/** What is fixed at the end of an epoch is used this many epochs later. */
const DELAY = 3n
const NO_KEY = new Uint8Array(32)

export const isJailed = (jailedUntil: bigint, epoch: bigint): boolean => epoch < jailedUntil

/** Weights as they stand at the end of an epoch, boot weight added (§3.8), with all that draws three epochs later need. */
export function takeSnapshot(state: StateView, epoch: bigint, params: ChainParams): SnapshotView {
  const { accounts } = state
  const columns = { drilled: accounts.drilled.getAll(), trained: accounts.trained.getAll() }
  const [failed, settled, bonds] = [accounts.failed.getAll(), accounts.settled.getAll(), accounts.bond.getAll()]
  const [jailed, from, authority] = [
    accounts.jailedUntil.getAll(),
    accounts.vrfFrom.getAll(),
    accounts.authority.getAll(),
  ]
  const count = failed.length
  const weight = new Array<bigint>(count).fill(0n)
  const votes = new Array<bigint>(count).fill(0n)
  const authorities: number[] = []
  for (let i = 0; i < count; i++) {
    const power = {
      drilled: columns.drilled[i]!,
      trained: columns.trained[i]!,
      failed: failed[i]!,
      settled: settled[i]!,
    }
    const hasPower = power.drilled > 0n || power.trained > 0n
    if ((!hasPower && authority[i] === 0) || isJailed(jailed[i]!, epoch)) continue
    if (bonds[i]! >= params.bond) votes[i] = votingWeightOf(power)
    if (from[i]! > epoch + DELAY || equalBytes(accounts.vrfKey.get(i), NO_KEY)) continue
    weight[i] = weightOf(power)
    if (authority[i] === 1) authorities.push(i)
  }
  const boot = bootShare(weight, authorities.length, params)
  for (const i of authorities) weight[i]! += boot
  // Counted apart: power that has no bond yet makes blocks, and would leave a set without a voter.
  const voters = authorities.filter((i) => bonds[i]! >= params.bond)
  const bootVotes = bootShare(votes, voters.length, params)
  for (const i of voters) votes[i]! += bootVotes
  return snapshotView(state, epoch, { weight, votes, boot }, params)
}

/** What each authority gets of the weight that is missing (§3.8). */
function bootShare(weights: readonly bigint[], authorities: number, { bootWeight }: ChainParams): bigint {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  return authorities === 0 || total >= bootWeight ? 0n : (bootWeight - total) / BigInt(authorities)
}

interface Weights {
  readonly weight: bigint[]
  readonly votes: bigint[]
  readonly boot: bigint
}

function snapshotView(state: StateView, epoch: bigint, { weight, votes, boot }: Weights, params: ChainParams) {
  const { accounts } = state
  accounts.commit()
  state.projects.commit()
  const snapshot = SnapshotType.defaultViewDU()
  snapshot.epoch = epoch
  snapshot.weight = U64s.toViewDU(weight)
  snapshot.votes = U64s.toViewDU(votes)
  snapshot.boot = boot
  snapshot.capacity = U64s.toViewDU(drawableCapacities(state, epoch, params))
  // These share their nodes with the state: no copy is made.
  snapshot.vrfKey = Keys.getViewDU(accounts.vrfKey.node)
  snapshot.ready = SnapshotType.fields.ready.getViewDU(accounts.ready.node)
  snapshot.projects = ProjectsType.getViewDU(state.projects.node)
  snapshot.commit()
  return snapshot
}

/** Capacity of those that are ready, hold the deposit and are not out; 0 for the others. */
function drawableCapacities({ accounts }: StateView, epoch: bigint, { deposit }: ChainParams): bigint[] {
  const [deposits, from, jailed] = [accounts.deposit, accounts.drillsFrom, accounts.jailedUntil]
  const ready = accounts.ready.getAll()
  return accounts.capacity.getAll().map((capacity, i) => {
    if (capacity === 0n || ready[i] === 0 || deposits.get(i) < deposit) return 0n
    return from.get(i) > epoch || isJailed(jailed.get(i), epoch) ? 0n : capacity
  })
}

/** The snapshot that rules an epoch; up to epoch 2 that of the genesis. */
export const snapshotFor = (state: StateView, epoch: bigint): SnapshotView =>
  state.snapshots.get(Number((epoch + 4n - DELAY) % 4n))

/** Accounts with their share, by ascending key: the order of every draw. */
export interface DrawList {
  readonly places: readonly number[]
  readonly weights: readonly bigint[]
  readonly draw: WeightedDraw | null
  readonly total: bigint
}

type KeyColumn = StateView['accounts']['key']

/** Accounts of a column that are above 0, in the order of their keys. */
export function drawList(column: readonly bigint[], keys: KeyColumn): DrawList {
  const entries = column
    .flatMap((weight, place) => (weight > 0n ? [{ place, weight, key: keys.get(place) }] : []))
    .sort((a, b) => compareBytes(a.key, b.key))
  const weights = entries.map(({ weight }) => weight)
  const draw = weightedDraw(weights)
  return { places: entries.map(({ place }) => place), weights, draw, total: draw?.total ?? 0n }
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return 0
}

// A snapshot's node is never changed, and the keys of its accounts are those of every state that holds it.
const eligibleBySnapshot = new WeakMap<object, DrawList>()

/** Who may make blocks in an epoch, with W. */
export function eligibleIn(state: StateView, epoch: bigint): DrawList {
  const snapshot = snapshotFor(state, epoch)
  const known = eligibleBySnapshot.get(snapshot.node)
  if (known !== undefined) return known
  const list = drawList(snapshot.weight.getAll(), state.accounts.key)
  eligibleBySnapshot.set(snapshot.node, list)
  return list
}

const capacityBySnapshot = new WeakMap<object, bigint>()

/** The sum of the capacities that a snapshot draws from. */
export function capacityIn(snapshot: SnapshotView): bigint {
  const known = capacityBySnapshot.get(snapshot.node)
  if (known !== undefined) return known
  const sum = snapshot.capacity.getAll().reduce((total, capacity) => total + capacity, 0n)
  capacityBySnapshot.set(snapshot.node, sum)
  return sum
}

/** Adds the voters of a set (§3.6): of the snapshot that rules its epoch, with the seats that its eta draws. */
export function addVoterSet(state: StateView, set: bigint, params: ChainParams): void {
  const candidates = drawList(snapshotFor(state, set).votes.getAll(), state.accounts.key)
  const sizes = { exact: Number(params.exactVoters), seats: Number(params.seats) }
  const { voters, total } = votingSet(candidates.weights, etaOf(state, set), sizes)
  const placed = voters.map(({ index, weight }) => ({ account: candidates.places[index]!, weight }))
  state.sets.push(VoterSetType.toViewDU({ epoch: set, total, voters: placed }))
}

export interface SetVoter {
  readonly account: number
  readonly key: Uint8Array
  readonly weight: bigint
}

/** The voters of a set in their order, with W_v; null if the state does not hold that set. Kept from epoch(F) on. */
export function votersOf({ view }: ChainState, set: bigint): { voters: readonly SetVoter[]; total: bigint } | null {
  const first = view.sets.getReadonly(0).epoch
  if (set < first || set - first >= BigInt(view.sets.length)) return null
  const { voters, total } = view.sets.getReadonly(Number(set - first)).toValue()
  return { voters: voters.map((voter) => ({ ...voter, key: view.accounts.key.get(voter.account) })), total }
}

/** A place in the lottery: weight, the key that must prove, and whether boot weight is in it. */
export interface LotteryPlace {
  readonly weight: bigint
  readonly vrfKey: Uint8Array
  readonly isBoot: boolean
}

/** What an account has in the lottery of an epoch; null if it may not make blocks then. */
export function lotteryPlace(state: StateView, epoch: bigint, place: number): LotteryPlace | null {
  const snapshot = snapshotFor(state, epoch)
  const weight = place < snapshot.weight.length ? snapshot.weight.get(place) : 0n
  if (weight === 0n) return null
  const isBoot = snapshot.boot > 0n && state.accounts.authority.get(place) === 1
  return { weight, vrfKey: snapshot.vrfKey.get(place), isBoot }
}

const thresholds = new WeakMap<ChainParams, Threshold>()

/** T(w, W) of the primary lottery. */
export function leaderThreshold(params: ChainParams): Threshold {
  const known = thresholds.get(params)
  if (known !== undefined) return known
  const made = thresholdFor({ numerator: params.leaderNumerator, denominator: params.leaderDenominator })
  thresholds.set(params, made)
  return made
}
