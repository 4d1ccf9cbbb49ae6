import { equalBytes } from '../../bytes/bytes.ts'
import { etaOf } from '../chainState.ts'
import type { EpochWork } from '../epoch/endEpoch.ts'
import { DAY } from '../params.ts'
import { valuesOf } from '../stateType.ts'
import { endDispute } from './disputes.ts'
import type { Need } from './drawTasks.ts'
import { markFailed, markFraud, settleValid, voidAll } from './settle.ts'
import {
  AFTER,
  classesOf,
  hasLeader,
  leaderOf,
  MARK,
  mustOpen,
  NO_CLASS,
  ORIGIN,
  PHASE,
  type Replica,
  resultClass,
  standing,
  type Task,
  taskRecord,
  taskSeed,
} from './task.ts'

/** A task after the end of an epoch: over, waiting, or in want of replicas. */
type Outcome = 'over' | 'on' | Omit<Need, 'task'>

/** Rounds of fresh replicas after the draws of a task: enough to reach seven. */
const FRESH_ROUNDS = 3n
const FRESH_AT_ONCE = 2

/** §5.2 for all tasks at the end of an epoch: those that go on, and what they lack. */
export function endPhases(work: EpochWork): { tasks: Task[]; needs: Need[] } {
  const tasks: Task[] = []
  const needs: Need[] = []
  for (const task of valuesOf(work.state.tasks)) {
    const outcome = task.phase === PHASE.appeal ? endAppeal(work, task) : endRunning(work, task)
    if (outcome === 'over') continue
    tasks.push(task)
    if (outcome !== 'on') needs.push({ task, ...outcome })
  }
  return { tasks, needs }
}

function endRunning(work: EpochWork, task: Task): Outcome {
  const age = work.state.epoch - task.epoch
  if (age === AFTER.commit) {
    const late = markLate(work, task)
    return late === 0 ? 'on' : { count: late, origin: ORIGIN.redrawn }
  }
  if (age === AFTER.secondCommit) {
    markLate(work, task)
    const committed = task.replicas.filter((replica) => replica.committed > 0n && replica.mark === MARK.none)
    return committed.length < 2 ? drawAgain(work, task) : 'on'
  }
  if (age === AFTER.reveal) {
    const hidden = task.replicas.filter(({ revealed, mark }) => revealed === 0 && mark === MARK.none)
    for (const replica of hidden) markFailed(work, task, replica, MARK.dissent)
    return standing(task).length < 2 ? drawAgain(work, task) : 'on'
  }
  return age === AFTER.open ? decide(work, task) : 'on'
}

function markLate(work: EpochWork, task: Task): number {
  const late = task.replicas.filter(({ committed, mark }) => committed === 0n && mark === MARK.none)
  for (const replica of late) markFailed(work, task, replica, MARK.late)
  return late.length
}

/** From the start, with another seed; who failed is not drawn for it again. */
function drawAgain({ state, params }: EpochWork, task: Task): Outcome {
  if (BigInt(task.draws) >= params.taskDraws) return 'over'
  const epoch = state.epoch + 1n
  const eta = etaOf(state, epoch)
  const { records } = state.projects.getReadonly(task.project)
  task.replicas = task.replicas.filter(({ mark }) => mark !== MARK.none)
  Object.assign(task, { draws: task.draws + 1, epoch })
  Object.assign(task, { seed: taskSeed(eta, task.id), record: taskRecord(eta, task.id, records) })
  return { count: Number(params.replicas), origin: ORIGIN.drawn }
}

function decide(work: EpochWork, task: Task): Outcome {
  const { state, accounts, params } = work
  const eta = etaOf(state, state.epoch)
  const asked = (replica: Replica) => mustOpen(eta, task, replica, accounts.key.get(replica.account))
  for (const replica of task.replicas.filter((each) => each.opened === 0 && asked(each))) markFraud(work, task, replica)
  const classes = classesOf(task)
  const replicas = standing(task)
  if (params.strictDrilling === 1n) return decideStrictly(work, task, classes.length)
  if (replicas.length < 2) return drawAgain(work, task)
  if (classes.length === 1) return settle(work, replicas)
  const leader = leaderOf(classes)
  const missing = Number(params.mostReplicas) - replicas.length
  if (leader === null && missing > 0 && BigInt(task.draws) < params.taskDraws + FRESH_ROUNDS) {
    Object.assign(task, { draws: task.draws + 1, epoch: state.epoch + 1n })
    return { count: Math.min(FRESH_AT_ONCE, missing), origin: ORIGIN.fresh }
  }
  openAppeal(work, task, leader?.u ?? NO_CLASS)
  return 'on'
}

/** The litepaper's rule: all agree, or all lose. */
function decideStrictly(work: EpochWork, task: Task, classCount: number): Outcome {
  const replicas = standing(task)
  const isWhole = task.replicas.every(({ mark }) => mark === MARK.none || mark === MARK.late)
  if (classCount === 1 && isWhole && replicas.length >= 2) return settle(work, replicas)
  voidAll(work, replicas)
  return 'over'
}

function settle(work: EpochWork, replicas: readonly Replica[]): 'over' {
  for (const replica of replicas) settleValid(work, replica)
  return 'over'
}

export function openAppeal({ state }: EpochWork, task: Task, leader: Uint8Array): void {
  Object.assign(task, { phase: PHASE.appeal, leader, appealUntil: state.epoch + DAY, dispute: [] })
}

function endAppeal(work: EpochWork, task: Task): Outcome {
  const { state, params } = work
  const [dispute] = task.dispute
  const lastSlot = (state.epoch + 1n) * params.epochSlots - 1n
  // Who did not move in time cannot show it.
  if (dispute !== undefined && dispute.deadline <= lastSlot) endDispute(work, task, dispute.turn === 1)
  if (task.dispute.length > 0 || state.epoch < task.appealUntil) return 'on'
  const replicas = standing(task)
  if (!hasLeader(task)) {
    voidAll(work, replicas)
    return 'over'
  }
  const isRight = (replica: Replica) => equalBytes(resultClass(task.id, replica), task.leader)
  for (const replica of replicas) if (!isRight(replica)) markFailed(work, task, replica, MARK.dissent)
  return settle(work, replicas.filter(isRight))
}
