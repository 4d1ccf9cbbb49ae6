import { equalBytes } from '../../bytes/bytes.ts'
import { type ChainState, etaOf, findAccount, located } from '../chainState.ts'
import type { Tx } from '../ssz.ts'
import { AFTER, drawnPatches, MARK, PHASE, type Task } from './task.ts'

const [OPEN, DISPUTE] = [14, 15]

/** Whether a transaction may show chunks of drilled work. */
export const showsChunks = ({ kind }: Tx): boolean => kind === OPEN || kind === DISPUTE

/** Chunks of a task that will be asked for. */
export interface ShownChunks {
  readonly projectKind: number
  readonly seed: Uint8Array
  readonly work: bigint
  readonly depth: number
  readonly indices: readonly number[]
}

/**
 * Which chunks a transaction may have computed again, so that it can be done before it is applied: those that the chain
 * drew or that a search has come to, whatever the transaction says, or anybody could have a node compute all day. Null
 * where there are none, or where its account has no replica of the task.
 */
export function shownChunks(state: ChainState, tx: Tx): ShownChunks | null {
  if (!showsChunks(tx) || tx.payload.length < 32) return null
  const { view } = state
  const place = findAccount(located(state), tx.account)
  // The task stands first in both payloads.
  const id = tx.payload.subarray(0, 32)
  const task = view.tasks.getAllReadonlyValues().find((each) => equalBytes(each.id, id))
  if (task === undefined || !task.replicas.some(({ account, mark }) => account === place && mark === MARK.none))
    return null
  const indices = tx.kind === OPEN ? drawnNow(state, task) : searchedNow(task)
  const { kind: projectKind, work } = view.projects.getReadonly(task.project)
  return indices.length === 0 ? null : { projectKind, work, seed: task.seed, depth: task.depth, indices }
}

function drawnNow({ view }: ChainState, task: Task): number[] {
  const isDue = task.phase === PHASE.running && view.epoch === task.epoch + AFTER.open
  return isDue ? drawnPatches(etaOf(view, view.epoch), task) : []
}

function searchedNow({ dispute: [dispute], depth }: Task): number[] {
  return dispute !== undefined && dispute.depth === depth ? [Number(dispute.place)] : []
}
