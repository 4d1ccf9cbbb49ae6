import type { OpenAPIHono } from '@hono/zod-openapi'
import type { PlannedJob } from '../../core/schedule/planFleetRound.ts'
import { requireClaim } from '../shared/requireClaim.ts'
import type { ApiDeps } from './apiDeps.ts'
import { found, notFound, problem, toldTo } from './problem.ts'
import { routes } from './routes.ts'

/** Every one of these has passed requireSignature. */
export function addWriteRoutes(app: OpenAPIHono, deps: ApiDeps): void {
  addPutBox(app, deps)
  addBoxWrites(app, deps)
  addAsk(app, deps)
  addBackup(app, deps)
}

function addBackup(app: OpenAPIHono, { backup, log }: ApiDeps): void {
  if (!backup) return
  app.openapi(routes.makeBackup, async (c) => {
    try {
      const made = await backup()
      log.info('backup made', made)
      return c.json(made, 200)
    } catch (error) {
      throw toldTo(500, error)
    }
  })
}

function addPutBox(app: OpenAPIHono, { store, catalogue, addressOf, log }: ApiDeps): void {
  app.openapi(routes.putBox, async (c) => {
    const box = { id: c.req.valid('param').id, ...c.req.valid('json') }
    let address: string
    try {
      if (box.claim !== null) requireClaim(box.claim, catalogue)
      address = await addressOf(box)
    } catch (error) {
      throw toldTo(400, error)
    }
    // Two boxes that are one would both be paid (attack 155).
    const other = await store.putBox({ ...box, address })
    if (other !== null) throw addressTaken(other)
    log.info('box told over the API', { box: box.id, provider: box.provider, claim: box.claim })
    return c.json({ done: true }, 200)
  })
}

const addressTaken = (other: string) =>
  problem(409, 'ADDRESS_TAKEN', `box ${other} has this address`, 'Change that box, or remove it first.')

function addBoxWrites(app: OpenAPIHono, { store, log }: ApiDeps): void {
  app.openapi(routes.removeBox, async (c) => {
    const { id } = c.req.valid('param')
    if (!(await store.removeBox(id))) throw notFound('box')
    log.info('box removed', { box: id })
    return c.json({ done: true }, 200)
  })
  app.openapi(routes.setAllocation, async (c) => {
    const { id } = c.req.valid('param')
    const { allocated } = c.req.valid('json')
    if (!(await store.setAllocated(id, allocated))) throw notFound('box')
    log.info('box allocated', { box: id, allocated })
    return c.json({ done: true }, 200)
  })
}

/** Once a round: a box must not be worn out by those who may ask. */
function addAsk(app: OpenAPIHono, { store, log }: ApiDeps): void {
  app.openapi(routes.askForRun, async (c) => {
    const { id } = c.req.valid('param')
    const box = found(await store.box(id), 'box')
    const round = (await store.lastRound())?.number ?? 0
    const kind = box.allocated ? 'light' : 'full'
    const job: PlannedJob = { boxId: id, round, kind, reason: 'asked', cohort: -1, delayMs: 0 }
    const done = await store.addJob(job)
    const why = done ? null : await whyNotAgain(store, job)
    log.info(done ? 'run asked for' : 'run not asked for again', { box: id, round, kind, code: why?.code ?? null })
    return c.json({ done, why }, 200)
  })
}

/** How many results of a box are looked through for the one that was asked for; a round rarely has more. */
const RECENT = 20

async function whyNotAgain(store: ApiDeps['store'], job: PlannedJob) {
  const { boxId, round, kind, reason } = job
  const history = `/v1/boxes/${boxId}/history`
  if (await store.isOpen(job)) {
    const message = `a run asked for in round ${round} waits or is under way`
    return { code: 'ALREADY_WAITING', message, nextStep: `Wait for it: watch /v1/live or ${history}.` }
  }
  const { items } = await store.history(boxId, { after: null, limit: RECENT })
  const ran = items.find((result) => result.round === round && result.kind === kind && result.reason === reason)
  const message = `a run was asked for in round ${round} already${ran ? `; it ended as ${ran.outcome}` : ''}`
  const nextStep = `Read ${ran ? `/v1/results/${ran.id}` : history}, or ask again when the next round has opened.`
  return { code: 'ALREADY_RUN', message, nextStep }
}
