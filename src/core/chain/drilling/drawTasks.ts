import { taggedHash } from '../../bytes/sha256.ts'
import { be256, u32be } from '../bigEndian.ts'
import { etaOf } from '../chainState.ts'
import type { EpochWork } from '../epoch/endEpoch.ts'
import { drawList, snapshotFor } from '../snapshots.ts'
import { ReplicaType } from '../stateType.ts'
import { LIVE } from '../transactions/projects.ts'
import { FreeCapacity } from './freeCapacity.ts'
import { MARK, NO_CLASS, ORIGIN, PHASE, type Replica, type Task, taskId, taskRecord, taskSeed } from './task.ts'

/** A running task that lacks replicas. */
export interface Need {
  readonly task: Task
  readonly count: number
  readonly origin: number
}

/** How many tickets are tried for each replica before a task is left for later. */
const TRIES = 16

/** Draws for the epoch that begins (§5.2): first what running tasks lack, then new ones. Returns the new tasks. */
export function drawTasks(work: EpochWork, epoch: bigint, needs: readonly Need[]): Task[] {
  const { state, accounts, params } = work
  const snapshot = snapshotFor(state, epoch)
  const list = drawList(snapshot.capacity.getAll(), accounts.key)
  const free = new FreeCapacity(list.weights)
  const eta = etaOf(state, epoch)
  const isReady = (place: number, kind: number) => ((snapshot.ready.get(place) >> kind) & 1) === 1
  const pick = (task: Task, count: (drawn: readonly number[]) => number): number[] => {
    const kind = state.projects.getReadonly(task.project).kind
    const taken = new Set(task.replicas.map(({ account }) => account))
    const drawn: number[] = []
    for (let j = 0; drawn.length < count(drawn) && j < TRIES * count(drawn) && free.total > 0n; j++) {
      const at = free.at(be256(taggedHash('pod/draw', eta, task.id, u32be(j))) % free.total)
      const place = list.places[at]!
      if (taken.has(place) || free.of(at) < task.work || !isReady(place, kind)) continue
      taken.add(place)
      drawn.push(at)
    }
    return drawn
  }
  const assign = (task: Task, drawn: readonly number[], origin: number) => {
    for (const at of drawn) {
      const place = list.places[at]!
      free.subtract(at, task.work)
      accounts.used.set(place, accounts.used.get(place) + task.work)
      task.replicas.push(newReplica(place, origin, epoch, task.work))
    }
  }
  for (const { task, count, origin } of needs)
    assign(
      task,
      pick(task, () => count),
      origin,
    )
  const [most, trusted] = [Number(params.replicas), Number(params.trustedReplicas)]
  const streakOf = (at: number) => accounts.streak.get(list.places[at]!)
  const wanted = (drawn: readonly number[]) =>
    drawn.length === trusted && drawn.every((at) => streakOf(at) >= params.trustedStreak) ? trusted : most
  return newTasks(work, epoch, eta, (task) => {
    const drawn = pick(task, wanted)
    if (drawn.length < wanted(drawn)) return false
    assign(task, drawn, ORIGIN.drawn)
    return true
  })
}

/** Live projects in turn, one task each, then project 0 with what capacity is left. */
function newTasks(work: EpochWork, epoch: bigint, eta: Uint8Array, tryDraw: (task: Task) => boolean): Task[] {
  const { state, params } = work
  const queued = snapshotFor(state, epoch).projects
  const made: Task[] = []
  const next = (project: number): boolean => {
    const { taken } = state.projects.getReadonly(project)
    if (made.length >= Number(params.tasksPerEpoch)) return false
    if (project !== 0 && (project >= queued.length || taken >= queued.getReadonly(project).queued)) return false
    const task = blankTask(work, project, taken, epoch, eta)
    if (task === null || !tryDraw(task)) return false
    made.push(task)
    state.projects.get(project).taken = taken + 1n
    return true
  }
  let turn = Array.from({ length: state.projects.length - 1 }, (_, i) => i + 1)
  while (turn.length > 0) turn = turn.filter(next)
  while (next(0));
  return made
}

function blankTask({ state }: EpochWork, project: number, index: bigint, epoch: bigint, eta: Uint8Array): Task | null {
  const { status, work: each, utility, records, depth } = state.projects.getReadonly(project)
  const work = (each * BigInt(utility)) / 2n
  if (status !== LIVE || work === 0n) return null
  const id = taskId(project, index)
  return {
    ...{ id, project, index, record: taskRecord(eta, id, records), seed: taskSeed(eta, id), work, utility, depth },
    ...{ phase: PHASE.running, draws: 1, epoch, replicas: [], leader: NO_CLASS, appealUntil: 0n, dispute: [] },
  }
}

export const newReplica = (account: number, origin: number, drawn: bigint, work: bigint): Replica => ({
  ...ReplicaType.defaultValue(),
  ...{ account, origin, drawn, work, mark: MARK.none },
})
