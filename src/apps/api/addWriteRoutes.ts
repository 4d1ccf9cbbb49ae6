import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { boxId } from '../../core/schedule/fleetRecords.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { requireClaim } from '../shared/requireClaim.ts'
import type { ApiDeps } from './apiDeps.ts'
import { found, json, notFound, problem, problemSchema, route } from './problem.ts'
import { allocationSchema, doneSchema, newBoxSchema } from './schemas.ts'

const unsigned = { 401: json(problemSchema, 'Not signed by a known key.') }
const answers = {
  200: json(doneSchema, 'Done, or done before.'),
  ...unsigned,
  404: json(problemSchema, 'There is none.'),
}
const params = z.object({ id: boxId })

const body = <T extends z.ZodType>(schema: T) => ({
  body: { content: { 'application/json': { schema } }, required: true },
})

/** Every one of these has passed requireSignature. */
export function addWriteRoutes(app: OpenAPIHono, deps: ApiDeps): void {
  addPutBox(app, deps)
  addBoxWrites(app, deps)
  addBackup(app, deps)
}

function addBackup(app: OpenAPIHono, { backup }: ApiDeps): void {
  if (!backup) return
  const made = z.object({ file: z.string(), rows: z.int() })
  const responses = { 200: json(made, 'Where it lies on the validator.'), ...unsigned }
  app.openapi(route('post', '/v1/backup', 'Copy the store into a file on the validator', {}, responses), async (c) =>
    c.json(await backup(), 200),
  )
}

function addPutBox(app: OpenAPIHono, { store, catalogue, ensureForeign }: ApiDeps): void {
  const refused = 'Of another form, a claim that names no known card, or the machine of the validator itself.'
  const responses = { ...answers, 400: json(problemSchema, refused) }
  const request = { params, ...body(newBoxSchema) }
  app.openapi(route('put', '/v1/boxes/{id}', 'Add a box, or change it', request, responses), async (c) => {
    const box = { id: c.req.valid('param').id, ...c.req.valid('json') }
    try {
      if (box.claim !== null) requireClaim(box.claim, catalogue)
      await ensureForeign(box)
    } catch (error) {
      if (!(error instanceof TouchstoneError)) throw error
      throw problem(400, error.detail.code, error.message, error.nextStep)
    }
    await store.putBox(box)
    return c.json({ done: true }, 200)
  })
}

function addBoxWrites(app: OpenAPIHono, { store }: ApiDeps): void {
  app.openapi(route('delete', '/v1/boxes/{id}', 'Take a box out of the fleet', { params }, answers), async (c) => {
    if (!(await store.removeBox(c.req.valid('param').id))) throw notFound('box')
    return c.json({ done: true }, 200)
  })
  const rented = 'Say whether a box is rented, so that it is only looked at lightly'
  const allocation = { params, ...body(allocationSchema) }
  app.openapi(route('post', '/v1/boxes/{id}/allocation', rented, allocation, answers), async (c) => {
    const { allocated } = c.req.valid('json')
    if (!(await store.setAllocated(c.req.valid('param').id, allocated))) throw notFound('box')
    return c.json({ done: true }, 200)
  })
  const run = 'Ask for a run on a box, once a round'
  app.openapi(route('post', '/v1/boxes/{id}/verify', run, { params }, answers), async (c) => {
    const { id } = c.req.valid('param')
    const box = found(await store.box(id), 'box')
    const round = (await store.lastRound())?.number ?? 0
    const kind = box.allocated ? 'light' : 'full'
    // Once a round: a box must not be worn out by those who may ask.
    const done = await store.addJob({ boxId: id, round, kind, reason: 'asked', cohort: -1, delayMs: 0 })
    return c.json({ done }, 200)
  })
}
