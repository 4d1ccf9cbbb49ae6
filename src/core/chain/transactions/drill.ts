import { equalBytes } from '../../bytes/bytes.ts'
import { toHex } from '../../bytes/hex.ts'
import { creditWithin } from '../accounting.ts'
import { etaOf, type Refusal, type Working } from '../chainState.ts'
import { checkOpening } from '../drilling/checkOpening.ts'
import { newReplica } from '../drilling/drawTasks.ts'
import { isInTree, traceLeaf } from '../drilling/resultTree.ts'
import {
  AFTER,
  auditAlpha,
  drawnPatches,
  drillCommitment,
  MARK,
  mustOpen,
  ORIGIN,
  PHASE,
  type Replica,
  type Task,
} from '../drilling/task.ts'
import { lotteryNumber } from '../lottery.ts'
import { problem } from '../problems.ts'
import { capacityIn, snapshotFor } from '../snapshots.ts'
import { ReplicaType, TaskType } from '../stateType.ts'
import { thresholdFor } from '../threshold.ts'
import { handler } from './handler.ts'
import { DrillCommitType, DrillOpenType, DrillRevealType } from './payloads.ts'

const MOST_REPLICAS = 32
const isZero = (bytes: Uint8Array) => bytes.every((byte) => byte === 0)

// The list of tasks changes its order at the end of an epoch only, so a block can look them up once.
const taskPlaces = new WeakMap<Working, Map<string, number>>()

/** The place of a running task, or -1. */
export function findTask(working: Working, id: Uint8Array): number {
  let places = taskPlaces.get(working)
  if (places === undefined) {
    places = new Map(working.state.tasks.getAllReadonly().map((task, at) => [toHex(task.id), at]))
    taskPlaces.set(working, places)
  }
  return places.get(toHex(id)) ?? -1
}

export function readTask({ state }: Working, at: number): Task {
  const view = state.tasks.get(at)
  view.commit()
  return view.toValue()
}

export const writeTask = ({ state }: Working, at: number, task: Task): void =>
  state.tasks.set(at, TaskType.toViewDU(task))

interface Found {
  readonly at: number
  readonly task: Task
  readonly replicaAt: number
  readonly replica: Replica | undefined
}

/** The task and the replica of an account in it that is not marked. */
function findReplica(working: Working, place: number, id: Uint8Array): Found | null {
  const at = findTask(working, id)
  if (at === -1) return null
  const task = readTask(working, at)
  const replicaAt = task.replicas.findIndex(({ account, mark }) => account === place && mark === MARK.none)
  return { at, task, replicaAt, replica: task.replicas[replicaAt] }
}

const setReplica = ({ state }: Working, { at, replicaAt }: Found, replica: Replica): void =>
  state.tasks.get(at).replicas.set(replicaAt, ReplicaType.toViewDU(replica))

export const drillCommit = handler(DrillCommitType, (working, place, { task: id, commitment, vrfProof }) => {
  const found = findReplica(working, place, id)
  if (found === null) return problem('TASK', 'payload.task')
  const { task, replica } = found
  if (task.phase !== PHASE.running) return problem('PHASE', 'payload.task')
  if (replica === undefined) return auditCommit(working, place, found, commitment, vrfProof)
  if (!isZero(vrfProof)) return problem('PROOF', 'payload.vrfProof')
  if (replica.committed !== 0n) return problem('TWICE', 'payload.task')
  // In time: who has not committed by the end of its last epoch for it is marked late, and has no replica any more.
  setReplica(working, found, { ...replica, committed: working.state.epoch, commitment })
  return null
})

/** A hidden audit: who the lottery lets in runs the task too, and nobody knows before. */
function auditCommit(
  working: Working,
  place: number,
  found: Found,
  commitment: Uint8Array,
  proof: Uint8Array,
): Refusal {
  const { state, accounts, params, checks } = working
  const { task, at } = found
  const { epoch } = state
  const drawn = task.replicas.filter(({ origin, drawn: of }) => origin === ORIGIN.drawn && of === task.epoch)
  const isAudited = epoch === task.epoch + AFTER.secondCommit && drawn.length === Number(params.trustedReplicas)
  if (!isAudited || task.replicas.some(({ account }) => account === place)) return problem('REPLICA', 'account')
  if (task.replicas.length >= MOST_REPLICAS) return problem('FULL', 'payload.task')
  const snapshot = snapshotFor(state, epoch)
  const capacity = place < snapshot.capacity.length ? snapshot.capacity.get(place) : 0n
  if (capacity === 0n || accounts.vrfFrom.get(place) > epoch) return problem('READY', 'account')
  const beta = checks.vrf(accounts.vrfKey.get(place), auditAlpha(etaOf(state, epoch), task.id), proof)
  if (beta === null) return problem('PROOF', 'payload.vrfProof')
  const total = capacityIn(snapshot)
  const f = { numerator: params.auditNumerator, denominator: params.auditDenominator }
  if (lotteryNumber(beta) >= thresholdFor(f)(capacity, total)) return problem('DRAW', 'payload.vrfProof')
  const work = creditWithin(accounts.capacity.get(place), accounts.used.get(place), task.work)
  accounts.used.set(place, accounts.used.get(place) + work)
  const replica = { ...newReplica(place, ORIGIN.audit, epoch, work), committed: epoch, commitment }
  state.tasks.get(at).replicas.push(ReplicaType.toViewDU(replica))
  return null
}

export const drillReveal = handler(DrillRevealType, (working, place, { task: id, nonce, ...shown }) => {
  const found = findReplica(working, place, id)
  if (found === null) return problem('TASK', 'payload.task')
  const { task, replica } = found
  if (replica === undefined || replica.committed === 0n) return problem('REPLICA', 'account')
  if (task.phase !== PHASE.running || working.state.epoch !== task.epoch + AFTER.reveal)
    return problem('PHASE', 'payload.task')
  if (replica.revealed === 1) return problem('TWICE', 'payload.task')
  const commitment = drillCommitment(id, working.accounts.key.get(place), shown, nonce)
  if (!equalBytes(commitment, replica.commitment)) return problem('COMMITMENT', 'payload')
  // Or whoever says another than the others voids what they did, and nobody could accuse it (attack 208).
  const { kind } = working.state.projects.getReadonly(task.project)
  if (!working.checks.live(kind, shown.live)) return problem('AMOUNT', 'payload.live')
  setReplica(working, found, { ...replica, ...shown, revealed: 1 })
  return null
})

export const drillOpen = handler(DrillOpenType, (working, place, { task: id, openings }) => {
  const found = findReplica(working, place, id)
  if (found === null) return problem('TASK', 'payload.task')
  const { task, replica } = found
  const { state, accounts } = working
  if (replica === undefined) return problem('REPLICA', 'account')
  if (task.phase !== PHASE.running || state.epoch !== task.epoch + AFTER.open) return problem('PHASE', 'payload.task')
  const [eta, key] = [etaOf(state, state.epoch), accounts.key.get(place)]
  if (!mustOpen(eta, task, replica, key)) return problem('REPLICA', 'account')
  if (replica.opened === 1) return problem('TWICE', 'payload.task')
  const patches = drawnPatches(eta, task)
  if (openings.length !== patches.length) return problem('OPENING', 'payload.openings')
  for (const [k, opening] of openings.entries()) {
    const leaf = traceLeaf(key, opening.index, opening.bytes)
    const isRight =
      opening.index === patches[k] &&
      isInTree(replica.traceRoot, task.depth, opening.index, leaf, opening.tracePath) &&
      checkOpening(working, task, replica.resultRoot, opening)
    if (!isRight) return problem('OPENING', `payload.openings[${k}]`)
  }
  setReplica(working, found, { ...replica, opened: 1 })
  return null
})
