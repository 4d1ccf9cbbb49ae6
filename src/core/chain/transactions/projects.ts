import { type Working, workingEpoch } from '../chainState.ts'
import { burn, subtract } from '../ledger.ts'
import { problem } from '../problems.ts'
import { balanceOf } from '../purse.ts'
import { lotteryPlace } from '../snapshots.ts'
import { ProjectType, ProjectVoteType, type StateView, valuesOf } from '../stateType.ts'
import { handler } from './handler.ts'
import { ProjectVotePayloadType, ProposalType, ReadyType, TasksType } from './payloads.ts'

export const PROPOSED = 0
export const LIVE = 1
export const REFUSED = 2

/** Utility counts in halves; a project starts at 1. */
export const UTILITY_ONE = 2
const UTILITIES = [0, 1, UTILITY_ONE, 4]
const MOST_PROJECTS = 65_536
const MOST_VOTES = 4_096
const DEEPEST = 30

/** How much of an account's project bond its open projects need. */
export function boundByProjects({ projects }: StateView, place: number, each: bigint): bigint {
  // Owners alone: the values of all projects with all their votes are a thousand times as much.
  projects.commit()
  const own = projects.getAllReadonly().filter(({ owner, status }) => owner === place && status !== REFUSED)
  return each * BigInt(own.length)
}

export const propose = handler(ProposalType, (working, place, payload) => {
  const { state, accounts, params, checks } = working
  const needed = boundByProjects(state, place, params.projectBond) + params.projectBond
  if (accounts.projectBond.get(place) < needed) return problem('BALANCE', 'account')
  if (state.projects.length >= MOST_PROJECTS) return problem('FULL', 'payload')
  // Classes of tasks are bits of a byte.
  if (payload.kind > 7) return problem('PROJECT', 'payload.kind')
  if (payload.work === 0n || payload.depth > DEEPEST) return problem('PROJECT', 'payload.work, payload.depth')
  // Nobody votes on what nobody could do, or check.
  if (!checks.terms(payload)) return problem('PROJECT', 'payload')
  const epoch = workingEpoch(working)
  const fresh = { ...ProjectType.defaultValue(), ...payload, owner: place, epoch, utility: UTILITY_ONE }
  state.projects.push(ProjectType.toViewDU(fresh))
  return null
})

export const projectVote = handler(ProjectVotePayloadType, (working, place, { project, utility }) => {
  const { state } = working
  if (project >= state.projects.length) return problem('PROJECT', 'payload.project')
  if (!UTILITIES.includes(utility)) return problem('UTILITY', 'payload.utility')
  const view = state.projects.get(project)
  if (view.status === REFUSED) return problem('PROJECT', 'payload.project')
  const epoch = workingEpoch(working)
  const weight = lotteryPlace(state, epoch + 2n, place)?.weight ?? 0n
  if (weight === 0n) return problem('ACCOUNT', 'account')
  const mine = ProjectVoteType.toViewDU({ account: place, utility, epoch })
  const voters = votersOn(working, project)
  const own = voters.findIndex(({ account }) => account === place)
  if (own !== -1) view.votes.set(own, mine)
  else if (voters.length < MOST_VOTES) {
    view.votes.push(mine)
    voters.push({ account: place, weight })
  } else {
    // Many small accounts cannot keep a larger one out.
    const least = voters.reduce((at, voter, i) => (voter.weight < voters[at]!.weight ? i : at), 0)
    if (voters[least]!.weight >= weight) return problem('FULL', 'payload')
    view.votes.set(least, mine)
    voters[least] = { account: place, weight }
  }
  return null
})

interface ProjectVoter {
  readonly account: number
  readonly weight: bigint
}

// Read once for a block: to read thousands of votes again for each new one would let a block take minutes.
const voterLists = new WeakMap<Working, Map<number, ProjectVoter[]>>()

/** Who votes on a project, in the order of its votes. */
function votersOn(working: Working, project: number): ProjectVoter[] {
  const lists = voterLists.get(working) ?? new Map<number, ProjectVoter[]>()
  voterLists.set(working, lists)
  const known = lists.get(project)
  if (known !== undefined) return known
  const { state } = working
  const epoch = workingEpoch(working)
  const made = valuesOf(state.projects.get(project).votes).map(({ account }) => ({
    account,
    weight: lotteryPlace(state, epoch + 2n, account)?.weight ?? 0n,
  }))
  lists.set(project, made)
  return made
}

export const tasks = handler(TasksType, (working, place, { project, count }) => {
  const { state, accounts, params } = working
  // Project 0 has as many tasks as there is capacity for: nobody queues them.
  if (project === 0 || project >= state.projects.length) return problem('PROJECT', 'payload.project')
  if (state.projects.getReadonly(project).status !== LIVE) return problem('PROJECT', 'payload.project')
  if (count === 0 || count > 1_024) return problem('AMOUNT', 'payload.count')
  const price = params.taskPrice * BigInt(count)
  if (balanceOf(accounts, place) < price) return problem('BALANCE', 'payload.count')
  subtract(working, 'balance', place, price)
  burn(working, price)
  state.projects.get(project).queued += BigInt(count)
  return null
})

export const ready = handler(ReadyType, ({ accounts, params }, place, { classes }) => {
  const fits = accounts.deposit.get(place) >= params.deposit && accounts.capacity.get(place) > 0n
  if (classes !== 0 && !fits) return problem('READY', 'account')
  accounts.ready.set(place, classes)
  return null
})
