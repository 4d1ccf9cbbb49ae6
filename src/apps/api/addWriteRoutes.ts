import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { requireClaim } from '../shared/requireClaim.ts'
import type { ApiDeps } from './apiDeps.ts'
import { found, notFound, problem, problemSchema } from './problem.ts'
import { allocationSchema, boxId, doneSchema, newBoxSchema } from './schemas.ts'

const body = <T extends z.ZodType>(schema: T) => ({
  body: { content: { 'application/json': { schema } }, required: true },
})
const answers = {
  200: { content: { 'application/json': { schema: doneSchema } }, description: 'Done, or done before.' },
  401: { content: { 'application/json': { schema: problemSchema } }, description: 'Not signed by a known key.' },
  404: { content: { 'application/json': { schema: problemSchema } }, description: 'There is none.' },
}
const security = [{ signed: [] }]
const params = z.object({ id: boxId })

/** Every one of these has passed requireSignature. */
export function addWriteRoutes(app: OpenAPIHono, deps: ApiDeps): void {
  addPutBox(app, deps)
  addBoxWrites(app, deps)
  addBackup(app, deps)
}

function addBackup(app: OpenAPIHono, { backup }: ApiDeps): void {
  if (!backup) return
  const made = z.object({ file: z.string(), rows: z.int() })
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/backup',
      summary: 'Copy the store into a file on the validator',
      security,
      responses: {
        200: { content: { 'application/json': { schema: made } }, description: 'Where it lies on the validator.' },
        401: answers[401],
      },
    }),
    async (c) => c.json(await backup(), 200),
  )
}

function addPutBox(app: OpenAPIHono, { store, catalogue, ensureForeign }: ApiDeps): void {
  app.openapi(
    createRoute({
      method: 'put',
      path: '/v1/boxes/{id}',
      summary: 'Add a box, or change it',
      security,
      request: { params, ...body(newBoxSchema) },
      responses: {
        ...answers,
        400: {
          content: { 'application/json': { schema: problemSchema } },
          description: 'Of another form, a claim that names no known card, or the machine of the validator itself.',
        },
      },
    }),
    async (c) => {
      const box = c.req.valid('json')
      const { id } = c.req.valid('param')
      if (box.claim !== null) refuseBadClaim(box.claim, catalogue)
      await ensureForeign({ id, address: box.address }).catch(refuse)
      await store.putBox({ id, ...box })
      return c.json({ done: true }, 200)
    },
  )
}

function addBoxWrites(app: OpenAPIHono, { store }: ApiDeps): void {
  app.openapi(
    createRoute({
      method: 'delete',
      path: '/v1/boxes/{id}',
      summary: 'Take a box out of the fleet',
      security,
      request: { params },
      responses: answers,
    }),
    async (c) => {
      if (!(await store.removeBox(c.req.valid('param').id))) throw notFound('box')
      return c.json({ done: true }, 200)
    },
  )
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/boxes/{id}/allocation',
      summary: 'Say whether a box is rented, so that it is only looked at lightly',
      security,
      request: { params, ...body(allocationSchema) },
      responses: answers,
    }),
    async (c) => {
      const { allocated } = c.req.valid('json')
      if (!(await store.setAllocated(c.req.valid('param').id, allocated))) throw notFound('box')
      return c.json({ done: true }, 200)
    },
  )
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/boxes/{id}/verify',
      summary: 'Ask for a run on a box, once a round',
      security,
      request: { params },
      responses: answers,
    }),
    async (c) => {
      const { id } = c.req.valid('param')
      const box = found(await store.box(id), 'box')
      const round = (await store.lastRound())?.number ?? 0
      const kind = box.allocated ? 'light' : 'full'
      // Once a round: a box must not be worn out by those who may ask.
      const done = await store.addJob({ boxId: id, round, kind, reason: 'asked', cohort: -1, delayMs: 0 })
      return c.json({ done }, 200)
    },
  )
}

function refuseBadClaim(text: string, catalogue: Catalogue): void {
  try {
    requireClaim({ text, catalogue })
  } catch (error) {
    refuse(error)
  }
}

/** What is wrong with a box, as an answer to whoever wrote it. */
function refuse(error: unknown): never {
  if (!(error instanceof TouchstoneError)) throw error
  throw problem(400, error.detail.code, error.message, error.nextStep)
}
