import type { OpenAPIHono } from '@hono/zod-openapi'
import { toHex } from '../../../core/bytes/hex.ts'
import type { ChainState } from '../../../core/chain/chainState.ts'
import { PHASE, type Replica, type Task } from '../../../core/chain/drilling/task.ts'
import { found } from '../problem.ts'
import { stateAt } from './addAccountRoutes.ts'
import type { NodeApiDeps } from './createNodeApi.ts'
import { nodeRoutes } from './nodeRoutes.ts'
import { MARKS, MOST_LISTED, ORIGINS, STATUSES } from './schemas.ts'

/** Tasks and the projects behind them (chain.md §5), as the state has them. */
export function addDrillingRoutes(app: OpenAPIHono, { node }: NodeApiDeps): void {
  app.openapi(nodeRoutes.listProjects, async (c) => {
    const { state, block } = await stateAt(node, c.req.valid('query').at)
    // Without their votes, which may be thousands.
    const { length } = state.view.projects
    const listed = Array.from({ length: Math.min(length, MOST_LISTED) }, (_, i) => toldProject(state, i))
    return c.json({ block, count: length, projects: listed }, 200)
  })
  app.openapi(nodeRoutes.listWorks, async (c) => {
    const { state, block } = await stateAt(node, c.req.valid('query').at)
    const { length } = state.view.tasks
    const listed = Array.from({ length: Math.min(length, MOST_LISTED) }, (_, i) => state.view.tasks.getReadonly(i))
    return c.json({ block, count: length, works: listed.map((view) => toldWork(state, view.toValue())) }, 200)
  })
  app.openapi(nodeRoutes.getWork, async (c) => {
    const { state, block } = await stateAt(node, c.req.valid('query').at)
    const { id } = c.req.valid('param')
    const known = state.view.tasks.getAllReadonly().find((each) => toHex(each.id) === id)
    const task = found(known ?? null, 'work').toValue()
    const replicas = task.replicas.map((replica) => toldReplica(state, replica))
    return c.json({ block, ...toldWork(state, task), seed: toHex(task.seed), replicas }, 200)
  })
}

function toldProject({ view }: ChainState, number: number) {
  const { owner, kind, status, work, depth, utility, queued, taken, uri } = view.projects.getReadonly(number)
  return {
    ...{ project: number, kind, status: STATUSES[status]!, work: String(work), depth },
    owner: number === 0 ? null : toHex(view.accounts.key.get(owner)),
    ...{ utility: utility / 2, queued: String(queued), taken: String(taken) },
    about: new TextDecoder().decode(uri),
  }
}

/** What is due in each epoch after the draw (§5.2). */
const DUE = ['commit', 'commit', 'commit', 'reveal', 'wait', 'open'] as const

function toldWork({ view }: ChainState, task: Task) {
  const { replicas, project, depth, work, epoch, phase } = task
  const due = DUE[Math.max(0, Math.min(DUE.length - 1, Number(view.epoch - epoch)))]!
  return {
    ...{ id: toHex(task.id), project, work: String(work), depth, epoch: String(epoch) },
    due: phase === PHASE.appeal ? ('appeal' as const) : due,
    accounts: replicas.map(({ account }) => toHex(view.accounts.key.get(account))),
    committed: replicas.filter(({ committed }) => committed > 0n).length,
    revealed: replicas.filter(({ revealed }) => revealed === 1).length,
  }
}

function toldReplica({ view }: ChainState, replica: Replica) {
  const { account, origin, drawn, committed, commitment, revealed, resultRoot, live, opened, mark, work } = replica
  const hasCommitted = committed > 0n
  return {
    ...{ account: toHex(view.accounts.key.get(account)), origin: ORIGINS[origin]!, drawn: String(drawn) },
    commitment: hasCommitted ? toHex(commitment) : null,
    result: revealed === 1 ? toHex(resultRoot) : null,
    ...{ live: live / 65_535, hasOpened: opened === 1, mark: MARKS[mark]!, work: String(work) },
  }
}
