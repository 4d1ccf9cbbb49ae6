import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { boxId } from '../../core/schedule/fleetRecords.ts'
import type { ScoreConfig } from '../../core/score/scoreConfig.ts'
import { shareAtAge } from '../../core/score/shareAtAge.ts'
import type { BoxSummary, Paged } from '../../ports/store.ts'
import { cached } from '../shared/cached.ts'
import type { ApiDeps } from './apiDeps.ts'
import { found, json, problemSchema, route } from './problem.ts'
import {
  boxesQuery,
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
/** Of one page, as JSON; an item that is larger comes alone. */
const MOST_PAGE_BYTES = 1024 * 1024

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
  const params = z.object({ id: boxId })
  const boxes = { 200: json(paged(boxSummarySchema), 'Boxes.'), ...crowded }
  app.openapi(
    route('get', '/v1/boxes', 'Boxes of the fleet, by id, page by page', { query: boxesQuery }, boxes),
    async (c) => {
      const { after, limit, ...filter } = c.req.valid('query')
      const { items, next } = await store.boxes(filter, { after, limit })
      const page = pageWithin({ items: items.map(shown), next }, ({ id }) => id)
      return c.json(page, 200)
    },
  )
  const box = { 200: json(boxSchema, 'The box.'), ...missing }
  app.openapi(route('get', '/v1/boxes/{id}', 'One box and what its proof is worth now', { params }, box), async (c) =>
    c.json(shown(found(await store.box(c.req.valid('param').id), 'box')), 200),
  )
  const results = { 200: json(paged(resultSummarySchema), 'Results, newest first.'), ...crowded }
  const ofBox = { params, query: numberedQuery }
  app.openapi(route('get', '/v1/boxes/{id}/history', 'Results of one box, newest first', ofBox, results), async (c) => {
    const history = await store.history(c.req.valid('param').id, c.req.valid('query'))
    const page = pageWithin(history, ({ id }) => String(id))
    return c.json(page, 200)
  })
  const specs = { 200: json(paged(specSchema), 'Latest proven facts of each box, by its id.'), ...crowded }
  const ofProvider = { params: z.object({ provider }), query: pageQuery }
  app.openapi(
    route('get', '/v1/providers/{provider}/specs', 'What was last proven of each box of a provider', ofProvider, specs),
    async (c) => {
      const proven = await store.specs(c.req.valid('param').provider, c.req.valid('query'))
      const page = pageWithin(proven, ({ boxId }) => boxId)
      return c.json(page, 200)
    },
  )
}

function addResultRoutes(app: OpenAPIHono, { store }: ApiDeps): void {
  const params = z.object({ id: z.coerce.number().int().min(1) })
  const result = { 200: json(resultSchema, 'The result.'), ...missing }
  app.openapi(route('get', '/v1/results/{id}', 'One result', { params }, result), async (c) =>
    c.json(found(await store.result(c.req.valid('param').id), 'result'), 200),
  )
  const ofRun = { params: z.object({ runId: z.string().regex(/^[0-9a-f]{32}$/) }) }
  const file = { 200: json(z.string(), 'The file, byte for byte.'), ...missing }
  app.openapi(
    route('get', '/v1/certificates/{runId}', 'The signed certificate of a run, for anybody to check', ofRun, file),
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
    async () => {
      const [round, queue, overview] = await Promise.all([store.lastRound(), store.queue(), store.overview()])
      return { program, time: clock.wallTime().toISOString(), round, queue, ...overview }
    },
    STATUS_MS,
    clock,
  )
  const rounds = { 200: json(paged(roundSchema), 'Rounds, newest first.') }
  app.openapi(route('get', '/v1/rounds', 'Rounds, newest first', { query: numberedQuery }, rounds), async (c) =>
    c.json(await store.rounds(c.req.valid('query')), 200),
  )
  const figures = { 200: json(statisticsSchema, 'The fleet, at most two minutes old.') }
  app.openapi(route('get', '/v1/statistics', 'The whole fleet in figures', {}, figures), async (c) =>
    c.json(await statistics(), 200),
  )
  const status = { 200: json(statusSchema, 'How the validator was doing at `time`, at most four seconds ago.') }
  app.openapi(route('get', '/v1/status', 'How this validator is doing', {}, status), async (c) =>
    c.json(await state(), 200),
  )
}

function withScoreNow<T extends BoxSummary>(box: T, now: Date, decay: ScoreConfig['decay']) {
  const ageMs = box.scoredAt === null ? 0 : Math.max(0, now.getTime() - Date.parse(box.scoredAt))
  // How to log in to a box is nobody else's business, nor whom it will be measured beside.
  const { address: _, owes: __, moves: ___, ...shown } = box
  return { ...shown, scoreNow: Math.floor(box.score * shareAtAge(ageMs, decay)) }
}

/** As much of a page as its bytes allow; what is left begins the next one. */
function pageWithin<T>({ items, next }: Paged<T>, cursorOf: (item: T) => string): Paged<T> {
  let bytes = 0
  const fits = items.findIndex((item, i) => {
    bytes += new TextEncoder().encode(JSON.stringify(item)).length
    return i > 0 && bytes > MOST_PAGE_BYTES
  })
  if (fits < 0) return { items, next }
  return { items: items.slice(0, fits), next: cursorOf(items[fits - 1]!) }
}
