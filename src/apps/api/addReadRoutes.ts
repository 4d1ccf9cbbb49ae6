import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { HistoryNote } from '../../core/schedule/changesOf.ts'
import type { Decay } from '../../core/score/scoreConfig.ts'
import { shareAtAge } from '../../core/score/shareAtAge.ts'
import type { BoxSummary, FleetOverview } from '../../ports/store.ts'
import type { ApiDeps } from './apiDeps.ts'
import { cached } from './cached.ts'
import { pageWithin } from './pageWithin.ts'
import { found, problemSchema } from './problem.ts'
import {
  boxesQuery,
  boxId,
  boxSchema,
  boxSummarySchema,
  numberedQuery,
  paged,
  pageQuery,
  provider,
  resultSchema,
  resultSummarySchema,
  roundSchema,
  specSchema,
  statisticsSchema,
  statusSchema,
} from './schemas.ts'

/** Statistics read every box, and an embedded store does one thing at a time: a page that many watch asks for them rarely. */
const STATISTICS_MS = 60_000
const STATUS_MS = 2_000

const json = <T extends z.ZodType>(schema: T, description: string) => ({
  content: { 'application/json': { schema } },
  description,
})
const crowded = {
  429: json(problemSchema, 'This asker has too many requests, or too many pages that it has not read.'),
  503: json(problemSchema, 'Too many people read at once, or the store does not answer.'),
}
const missing = { 404: json(problemSchema, 'There is none.'), ...crowded }

export function addReadRoutes(app: OpenAPIHono, deps: ApiDeps): void {
  addBoxRoutes(app, deps)
  addResultRoutes(app, deps)
  addFleetRoutes(app, deps)
}

function addBoxRoutes(app: OpenAPIHono, { store, clock, decay }: ApiDeps): void {
  const shown = <T extends BoxSummary>(box: T) => withScoreNow(box, clock.wallTime(), decay)
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/boxes',
      summary: 'Boxes of the fleet, by id, page by page',
      request: { query: boxesQuery },
      responses: { 200: json(paged(boxSummarySchema), 'Boxes.'), ...crowded },
    }),
    async (c) => {
      const { after = null, limit, provider: of, status, claimVerdict } = c.req.valid('query')
      const filter = {
        ...(of ? { provider: of } : {}),
        ...(status ? { status } : {}),
        ...(claimVerdict ? { claimVerdict } : {}),
      }
      const { items, next } = await store.boxes(filter, { after, limit })
      return c.json(
        pageWithin({ items: items.map(shown), next }, ({ id }) => id),
        200,
      )
    },
  )
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/boxes/{id}',
      summary: 'One box and what its proof is worth now',
      request: { params: z.object({ id: boxId }) },
      responses: { 200: json(boxSchema, 'The box.'), ...missing },
    }),
    async (c) => c.json(shown(found(await store.box(c.req.valid('param').id), 'box')), 200),
  )
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/boxes/{id}/history',
      summary: 'Results of one box, newest first',
      request: { params: z.object({ id: boxId }), query: numberedQuery },
      responses: { 200: json(paged(resultSummarySchema), 'Results, newest first.'), ...crowded },
    }),
    async (c) => {
      const { after = null, limit } = c.req.valid('query')
      const { items, next } = await store.history(c.req.valid('param').id, { after, limit })
      return c.json(
        pageWithin({ items: items.map(mutable), next }, ({ id }) => String(id)),
        200,
      )
    },
  )
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/providers/{provider}/specs',
      summary: 'What was last proven of each box of a provider',
      request: { params: z.object({ provider }), query: pageQuery },
      responses: { 200: json(paged(specSchema), 'Latest proven facts of each box, by its id.'), ...crowded },
    }),
    async (c) => {
      const { after = null, limit } = c.req.valid('query')
      const { items, next } = await store.specs(c.req.valid('param').provider, { after, limit })
      const shown = items.map((spec) => ({ ...spec, figures: [...spec.figures] }))
      return c.json(
        pageWithin({ items: shown, next }, ({ boxId }) => boxId),
        200,
      )
    },
  )
}

function addResultRoutes(app: OpenAPIHono, { store }: ApiDeps): void {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/results/{id}',
      summary: 'One result',
      request: { params: z.object({ id: z.coerce.number().int().min(1) }) },
      responses: { 200: json(resultSchema, 'The result.'), ...missing },
    }),
    async (c) => c.json(mutable(found(await store.result(c.req.valid('param').id), 'result')), 200),
  )
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/certificates/{runId}',
      summary: 'The signed certificate of a run, for anybody to check',
      request: { params: z.object({ runId: z.string().regex(/^[0-9a-f]{32}$/) }) },
      responses: {
        200: { content: { 'application/json': { schema: z.string() } }, description: 'The file, byte for byte.' },
        ...missing,
      },
    }),
    async (c) => {
      const { runId } = c.req.valid('param')
      const text = found(await store.certificate(runId), 'certificate')
      c.header('content-type', 'application/json')
      c.header('content-disposition', `attachment; filename="touchstone-${runId}.json"`)
      return c.body(text, 200) as never
    },
  )
}

function addFleetRoutes(app: OpenAPIHono, { store, clock, program }: ApiDeps): void {
  const statistics = cached(() => store.statistics(), STATISTICS_MS, clock)
  const state = cached(
    async () => ({ ...(await stateOf(store)), time: clock.wallTime().toISOString() }),
    STATUS_MS,
    clock,
  )
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/rounds',
      summary: 'Rounds, newest first',
      request: { query: numberedQuery },
      responses: { 200: json(paged(roundSchema), 'Rounds, newest first.') },
    }),
    async (c) => {
      const { after = null, limit } = c.req.valid('query')
      const { items, next } = await store.rounds({ after, limit })
      return c.json({ items: [...items], next }, 200)
    },
  )
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/statistics',
      summary: 'The whole fleet in figures',
      responses: { 200: json(statisticsSchema, 'The fleet, at most two minutes old.') },
    }),
    async (c) => {
      const { figures, ...rest } = await statistics()
      return c.json({ ...rest, ...countsOf(rest), figures: [...figures] }, 200)
    },
  )
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/status',
      summary: 'How this validator is doing',
      responses: { 200: json(statusSchema, 'How the validator was doing at `time`, at most four seconds ago.') },
    }),
    async (c) => {
      const { round, queue, overview, time } = await state()
      const { boxes, resultsLastHour } = overview
      return c.json({ program, time, round, queue, boxes, ...countsOf(overview), resultsLastHour }, 200)
    },
  )
}

async function stateOf(store: ApiDeps['store']) {
  const [round, queue, overview] = await Promise.all([store.lastRound(), store.queue(), store.overview()])
  return { round, queue, overview }
}

const countsOf = ({ byStatus, byClaimVerdict }: FleetOverview) => ({
  byStatus: { ...byStatus } as Record<string, number>,
  byClaimVerdict: { ...byClaimVerdict } as Record<string, number>,
})

function withScoreNow<T extends BoxSummary>(box: T, now: Date, decay: Decay) {
  const ageMs = box.scoredAt === null ? 0 : Math.max(0, now.getTime() - Date.parse(box.scoredAt))
  // How to log in to a box is nobody else's business, nor whom it will be measured beside.
  const { address: _, owes: __, moves: ___, ...shown } = box
  return { ...shown, terms: [...box.terms], scoreNow: Math.floor(box.score * shareAtAge(ageMs, decay)) }
}

const mutable = <T extends { figures: readonly unknown[]; marks: readonly unknown[] }>(result: T) => ({
  ...result,
  figures: [...result.figures] as { device: number; name: string; value: number }[],
  marks: [...result.marks] as HistoryNote[],
})
