import { equalBytes } from '../../bytes/bytes.ts'
import { type ChainState, etaOf } from '../chainState.ts'
import type { VrfKey } from '../ecvrf.ts'
import { lotteryNumber } from '../lottery.ts'
import { capacityIn, snapshotFor } from '../snapshots.ts'
import { thresholdFor } from '../threshold.ts'
import { DisputeMoveType, DrillCommitType, DrillOpenType, DrillRevealType } from '../transactions/payloads.ts'
import { type DrillResult, nodesBelow, openingAt } from './drillResult.ts'
import {
  AFTER,
  auditAlpha,
  classesOf,
  type Dispute,
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
} from './task.ts'

/** Kinds of transactions (§3.9). */
const [COMMIT, REVEAL, OPEN, DISPUTE] = [12, 13, 14, 15]
const MOVE = { appeal: 0, split: 1, choose: 2, show: 3 } as const
const CHALLENGER = 1
/** Levels of a tree that one move of a search goes down. */
const LEVELS = 4
const NO_PROOF = new Uint8Array(80)

/** A transaction that is due, but for its envelope; `about` tells it from others of its account. */
export interface DueMove {
  readonly kind: number
  readonly payload: Uint8Array
  readonly about: string
}

/** An account that drills. */
export interface DrillerKeys {
  /** Its place in the state, and its key. */
  readonly place: number
  readonly key: Uint8Array
  readonly vrfKey: VrfKey
  /** What hides its result of a task: the same whenever it is asked for, and known to nobody else. */
  nonceOf(task: Task): Uint8Array
}

const replicaOf = ({ replicas }: Task, place: number): Replica | undefined =>
  replicas.find(({ account, mark }) => account === place && mark === MARK.none)

/** A hidden audit: whether the lottery lets this account run the task too, now. */
function mayAudit({ view, params }: ChainState, task: Task, { place, vrfKey }: DrillerKeys): boolean {
  const { epoch } = view
  const drawn = task.replicas.filter(({ origin, drawn: of }) => origin === ORIGIN.drawn && of === task.epoch)
  if (epoch !== task.epoch + AFTER.secondCommit || drawn.length !== Number(params.trustedReplicas)) return false
  if (task.phase !== PHASE.running || task.replicas.some(({ account }) => account === place)) return false
  const snapshot = snapshotFor(view, epoch)
  const capacity = place < snapshot.capacity.length ? snapshot.capacity.get(place) : 0n
  if (capacity === 0n || view.accounts.vrfFrom.get(place) > epoch) return false
  const f = { numerator: params.auditNumerator, denominator: params.auditDenominator }
  const y = lotteryNumber(vrfKey.evaluate(auditAlpha(etaOf(view, epoch), task.id)))
  return y < thresholdFor(f)(capacity, capacityIn(snapshot))
}

/** The tasks whose result this account needs, those first that it has not committed to. */
export function drilledTasks(state: ChainState, keys: DrillerKeys): Task[] {
  const tasks = state.view.tasks.getAllReadonlyValues()
  const mine = tasks.filter((task) => replicaOf(task, keys.place) !== undefined || mayAudit(state, task, keys))
  const isHidden = (task: Task) => (replicaOf(task, keys.place)?.committed ?? 0n) === 0n
  return [...mine.filter(isHidden), ...mine.filter((task) => !isHidden(task))]
}

/** Everything that the protocol asks of an account now (§5.2), of the tasks whose result it has. */
export function drillMoves(
  state: ChainState,
  keys: DrillerKeys,
  resultOf: (task: Task) => DrillResult | null,
): DueMove[] {
  return drilledTasks(state, keys).flatMap((task) => {
    const result = resultOf(task)
    if (result === null) return []
    const move = task.phase === PHASE.appeal ? searchMove(task, keys, result) : phaseMove(state, task, keys, result)
    return move === null ? [] : [move]
  })
}

function phaseMove(state: ChainState, task: Task, keys: DrillerKeys, result: DrillResult): DueMove | null {
  const { epoch } = state.view
  const replica = replicaOf(task, keys.place)
  const { shown } = result
  if (replica === undefined || replica.committed === 0n) {
    const commitment = drillCommitment(task.id, keys.key, shown, keys.nonceOf(task))
    const vrfProof = replica ? NO_PROOF : keys.vrfKey.prove(auditAlpha(etaOf(state.view, epoch), task.id))
    return due(task, COMMIT, DrillCommitType.serialize({ task: task.id, commitment, vrfProof }), 'commit')
  }
  if (epoch === task.epoch + AFTER.reveal && replica.revealed === 0)
    return due(
      task,
      REVEAL,
      DrillRevealType.serialize({ task: task.id, ...shown, nonce: keys.nonceOf(task) }),
      'reveal',
    )
  const eta = etaOf(state.view, epoch)
  if (epoch !== task.epoch + AFTER.open || replica.opened === 1 || !mustOpen(eta, task, replica, keys.key)) return null
  const openings = drawnPatches(eta, task).map((index) => openingAt(result, index))
  return due(task, OPEN, DrillOpenType.serialize({ task: task.id, openings }), 'open')
}

/** A move in the search for the first chunk in which two results differ, where it is this account's. */
function searchMove(task: Task, { place }: DrillerKeys, result: DrillResult): DueMove | null {
  const [dispute] = task.dispute
  const own = resultClass(task.id, result.shown)
  if (dispute === undefined) return appeal(task, own)
  if (dispute.turn === CHALLENGER) return dispute.challenger === place ? choose(task, dispute, result) : null
  return equalBytes(dispute.accused, own) ? defend(task, dispute, result) : null
}

/** Against the leader, or, where nobody leads, against the largest class of another result. Who leads waits. */
function appeal(task: Task, own: Uint8Array): DueMove | null {
  if (hasLeader(task) && equalBytes(task.leader, own)) return null
  const accused = hasLeader(task) ? task.leader : classesOf(task).find(({ u }) => !equalBytes(u, own))?.u
  return accused === undefined ? null : search(task, { move: MOVE.appeal, accused }, 'appeal')
}

function choose(task: Task, { depth, place, children }: Dispute, result: DrillResult): DueMove {
  const below = depth + Math.log2(children.length)
  const mine = nodesBelow(result, below, Number(place) * children.length, children.length)
  const child = children.findIndex((hash, i) => !equalBytes(hash, mine[i]!))
  return search(task, { move: MOVE.choose, child: Math.max(child, 0) }, `choose ${depth}`)
}

function defend(task: Task, { depth, place }: Dispute, result: DrillResult): DueMove {
  if (depth === task.depth)
    return search(task, { move: MOVE.show, opening: [openingAt(result, Number(place))] }, 'show')
  const levels = Math.min(LEVELS, task.depth - depth)
  const children = nodesBelow(result, depth + levels, Number(place) * 2 ** levels, 2 ** levels)
  return search(task, { move: MOVE.split, children }, `split ${depth}`)
}

type Search = ReturnType<typeof DisputeMoveType.defaultValue>

const search = (task: Task, move: Partial<Search>, about: string): DueMove =>
  due(
    task,
    DISPUTE,
    DisputeMoveType.serialize({ ...DisputeMoveType.defaultValue(), task: task.id, ...move }),
    `${about} ${task.dispute[0]?.deadline ?? ''}`,
  )

const due = (task: Task, kind: number, payload: Uint8Array, about: string): DueMove => ({
  ...{ kind, payload },
  about: `${task.id.join()} ${task.epoch} ${about}`,
})
