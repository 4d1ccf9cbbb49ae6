import { WEEK } from '../params.ts'
import { eligibleIn, lotteryPlace } from '../snapshots.ts'
import { ProjectType, valuesOf } from '../stateType.ts'
import { LIVE, PROPOSED, REFUSED, UTILITY_ONE } from '../transactions/projects.ts'
import type { EpochWork } from './endEpoch.ts'

/** A vote stands for four weeks, and so does the utility that it moved. */
const VOTE_EPOCHS = 4n * WEEK

/** Counts the votes on projects with the weights of the epoch that ends. */
export function countProjectVotes({ state }: EpochWork): void {
  const { epoch } = state
  // The snapshot of this epoch is the one that rules three epochs later.
  const { total } = eligibleIn(state, epoch + 3n)
  for (const [i, project] of valuesOf(state.projects).entries()) {
    if (project.status === REFUSED) continue
    const standing = project.votes.filter((vote) => vote.epoch + VOTE_EPOCHS > epoch)
    const weightOf = (account: number) => lotteryPlace(state, epoch + 3n, account)?.weight ?? 0n
    const sum = (wanted: (utility: number) => boolean) =>
      standing.reduce((weight, { account, utility }) => (wanted(utility) ? weight + weightOf(account) : weight), 0n)
    const next = { ...project, votes: standing }
    if (project.status === PROPOSED) {
      if (2n * sum((utility) => utility > 0) > total) Object.assign(next, { status: LIVE, votes: [] })
      else if (epoch >= project.epoch + WEEK) Object.assign(next, { status: REFUSED, votes: [] })
    } else {
      const moved = [0, 1, 2, 4].find((utility) => 3n * sum((vote) => vote === utility) > 2n * total)
      if (moved !== undefined) Object.assign(next, { utility: moved, utilityUntil: epoch + VOTE_EPOCHS, votes: [] })
      else if (project.utility !== UTILITY_ONE && epoch >= project.utilityUntil) next.utility = UTILITY_ONE
    }
    if (!ProjectType.equals(next, project)) state.projects.set(i, ProjectType.toViewDU(next))
  }
}
