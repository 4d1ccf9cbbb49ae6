import type { ValueOf } from '@chainsafe/ssz'
import { equalBytes } from '../../bytes/bytes.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { u64be } from '../bigEndian.ts'
import type { Refusal, Working } from '../chainState.ts'
import { checkOpening } from '../drilling/checkOpening.ts'
import { endDispute, MOVE_SLOTS } from '../drilling/disputes.ts'
import { isInTree, resultLeaf, treeRoot } from '../drilling/resultTree.ts'
import { classesOf, type Dispute, hasLeader, PHASE, resultClass, standing, type Task } from '../drilling/task.ts'
import { problem } from '../problems.ts'
import { findTask, readTask, writeTask } from './drill.ts'
import { handler } from './handler.ts'
import { DisputeMoveType } from './payloads.ts'

type Move = ValueOf<typeof DisputeMoveType>
type Mover = (working: Working, place: number, task: Task, move: Move) => Refusal

/** Levels of the tree that one move goes down: 16 children. */
const LEVELS = 4
const ACCUSED = 0
const CHALLENGER = 1

export const disputeMove = handler(DisputeMoveType, (working, place, move) => {
  const at = findTask(working, move.task)
  if (at === -1) return problem('TASK', 'payload.task')
  const task = readTask(working, at)
  if (task.phase !== PHASE.appeal) return problem('PHASE', 'payload.task')
  const mover = [appeal, split, choose, show][move.move]
  if (mover === undefined) return problem('DISPUTE', 'payload.move')
  const [dispute] = task.dispute
  if (dispute !== undefined && working.slot > dispute.deadline) return problem('TOO_LATE', 'payload.task')
  const refusal = mover(working, place, task, move)
  if (refusal === null) writeTask(working, at, task)
  return refusal
})

/** The leaf of a gold entry: a result that the project computed beforehand. */
export const goldLeaf = (record: bigint, resultRoot: Uint8Array, salt: Uint8Array): Uint8Array =>
  taggedHash('pod/gold', u64be(record), resultRoot, salt)

const appeal: Mover = (working, place, task, { accused, gold }) => {
  if (task.dispute.length > 0) return problem('TWICE', 'payload.task')
  const accusedClass = classesOf(task).find(({ u }) => equalBytes(u, accused))
  if (accusedClass === undefined) return problem('DISPUTE', 'payload.accused')
  const { resultRoot } = accusedClass.replicas[0]!
  const own = standing(task).find(({ account }) => account === place)
  // Who does not lead accuses the leader; the leader accuses whom it likes, or a forged result would cost next to nothing.
  const leads = own !== undefined && equalBytes(task.leader, resultClass(task.id, own))
  if (hasLeader(task) && !leads && !equalBytes(task.leader, accused)) return problem('DISPUTE', 'payload.accused')
  const claimed = gold.length === 1 ? goldResult(working, place, task, gold[0]!) : (own?.resultRoot ?? null)
  if (claimed === null) return problem('REPLICA', 'account')
  // With one result there is no leaf to look for.
  if (equalBytes(claimed, resultRoot)) return problem('DISPUTE', 'payload.accused')
  const deadline = working.slot + MOVE_SLOTS
  const search = { depth: 0, place: 0n, node: resultRoot, children: [], turn: ACCUSED, deadline }
  task.dispute = [{ challenger: place, accused, resultRoot, gold: gold.length, ...search }]
  return null
}

function goldResult({ state }: Working, place: number, task: Task, gold: Move['gold'][number]): Uint8Array | null {
  const { owner, goldRoot } = state.projects.getReadonly(task.project)
  const leaf = goldLeaf(gold.record, gold.resultRoot, gold.salt)
  const isHeld = isInTree(goldRoot, gold.path.length, gold.place, leaf, gold.path)
  return owner === place && gold.record === task.record && isHeld ? gold.resultRoot : null
}

const isAccused = (task: Task, place: number, { accused }: Dispute): boolean =>
  standing(task).some((replica) => replica.account === place && equalBytes(resultClass(task.id, replica), accused))

/** The accused show the hashes below the node in question; they are bound to them. */
const split: Mover = (working, place, task, { children }) => {
  const [dispute] = task.dispute
  if (dispute === undefined || dispute.turn !== ACCUSED || dispute.depth === task.depth)
    return problem('TURN', 'payload.move')
  if (!isAccused(task, place, dispute)) return problem('REPLICA', 'account')
  const levels = Math.min(LEVELS, task.depth - dispute.depth)
  const isRight = children.length === 2 ** levels && equalBytes(treeRoot(children), dispute.node)
  if (!isRight) return problem('DISPUTE', 'payload.children')
  Object.assign(dispute, { children, turn: CHALLENGER, deadline: working.slot + MOVE_SLOTS })
  return null
}

/** The challenger names the first child that it has otherwise. */
const choose: Mover = (working, place, task, { child }) => {
  const [dispute] = task.dispute
  if (dispute === undefined || dispute.turn !== CHALLENGER) return problem('TURN', 'payload.move')
  if (dispute.challenger !== place) return problem('REPLICA', 'account')
  const { children } = dispute
  if (child >= children.length) return problem('DISPUTE', 'payload.child')
  Object.assign(dispute, {
    ...{ node: children[child]!, depth: dispute.depth + Math.log2(children.length), children: [] },
    ...{ place: dispute.place * BigInt(children.length) + BigInt(child) },
    ...{ turn: ACCUSED, deadline: working.slot + MOVE_SLOTS },
  })
  return null
}

/** The accused show the leaf and what it was made of; if it is right, the challenger was wrong. */
const show: Mover = (working, place, task, { opening }) => {
  const [dispute] = task.dispute
  if (dispute === undefined || dispute.turn !== ACCUSED || dispute.depth !== task.depth)
    return problem('TURN', 'payload.move')
  if (!isAccused(task, place, dispute)) return problem('REPLICA', 'account')
  const [leaf] = opening
  const isRight =
    leaf !== undefined &&
    BigInt(leaf.index) === dispute.place &&
    equalBytes(resultLeaf(leaf.index, leaf.bytes), dispute.node) &&
    checkOpening(working, task, dispute.resultRoot, leaf)
  if (!isRight) return problem('OPENING', 'payload.opening')
  endDispute(working, task, true)
  return null
}
