import { equalBytes } from '../../bytes/bytes.ts'
import type { EpochWork } from '../epoch/endEpoch.ts'
import { burn, take } from '../ledger.ts'
import { DAY } from '../params.ts'
import { markFraud } from './settle.ts'
import { classesOf, hasLeader, leaderOf, NO_CLASS, type Replica, resultClass, standing, type Task } from './task.ts'

/** Slots that a party has for a move. */
export const MOVE_SLOTS = 20n

/**
 * Ends the search. The accused are wrong together: they stand behind one result. A challenger is wrong alone: it chose the
 * way, and others of its opinion may go another.
 */
export function endDispute(work: EpochWork, task: Task, challengerWrong: boolean): void {
  const { challenger, accused, gold } = task.dispute[0]!
  task.dispute = []
  if (challengerWrong) {
    const replica = standing(task).find(({ account }) => account === challenger)
    // Or a leader could use up the day of the others with accusations of its own.
    if (replica !== undefined && equalBytes(resultClass(task.id, replica), task.leader))
      task.appealUntil = work.state.epoch + DAY
    if (gold === 1) burn(work, take(work, challenger, ['projectBond'], work.accounts.projectBond.get(challenger) / 10n))
    else if (replica !== undefined) markFraud(work, task, replica)
    return
  }
  const isAccused = (replica: Replica) => equalBytes(resultClass(task.id, replica), accused)
  for (const replica of standing(task).filter(isAccused)) markFraud(work, task, replica, challenger)
  // A leader that has won against others keeps its day.
  if (hasLeader(task) && !equalBytes(task.leader, accused)) return
  const classes = classesOf(task)
  task.leader = (classes.length === 1 ? classes[0] : leaderOf(classes))?.u ?? NO_CLASS
  task.appealUntil = work.state.epoch + DAY
}
