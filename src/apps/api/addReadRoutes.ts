import type { OpenAPIHono } from '@hono/zod-openapi'
import { proveScore } from '../../core/ledger/roundRecord.ts'
import type { ScoreConfig } from '../../core/score/scoreConfig.ts'
import type { BoxSummary, Paged } from '../../ports/store.ts'
import { cached } from '../shared/cached.ts'
import { scoreNow } from '../shared/scoreNow.ts'
import { takeTurns } from '../shared/takeTurns.ts'
import type { ApiDeps } from './apiDeps.ts'
import { found, problem } from './problem.ts'
import { routes } from './routes.ts'

/** Statistics read every box, and an embedded store does one thing at a time: a page that many watch asks for them rarely. */
const STATISTICS_MS = 60_000
const STATUS_MS = 2_000
/** Of one page, as JSON; an item that is larger comes alone. */
const MOST_PAGE_BYTES = 1024 * 1024

export function addReadRoutes(app: OpenAPIHono, deps: ApiDeps): void {
  addBoxRoutes(app, deps)
  addResultRoutes(app, deps)
  addFleetRoutes(app, deps)
  addLedgerRoutes(app, deps)
}

function addBoxRoutes(app: OpenAPIHono, { store, clock, decay }: ApiDeps): void {
  const shown = <T extends BoxSummary>(box: T) => withScoreNow(box, clock.wallTime(), decay)
  app.openapi(routes.listBoxes, async (c) => {
    const { after, limit, ...filter } = c.req.valid('query')
    const { items, next } = await store.boxes(filter, { after, limit })
    return c.json(
      pageWithin({ items: items.map(shown), next }, ({ id }) => id),
      200,
    )
  })
  app.openapi(routes.getBox, async (c) => c.json(shown(found(await store.box(c.req.valid('param').id), 'box')), 200))
  app.openapi(routes.listHistory, async (c) => {
    const history = await store.history(c.req.valid('param').id, c.req.valid('query'))
    return c.json(
      pageWithin(history, ({ id }) => String(id)),
      200,
    )
  })
  app.openapi(routes.listSpecs, async (c) => {
    const proven = await store.specs(c.req.valid('param').provider, c.req.valid('query'))
    return c.json(
      pageWithin(proven, ({ boxId }) => boxId),
      200,
    )
  })
}

function addResultRoutes(app: OpenAPIHono, { store }: ApiDeps): void {
  app.openapi(routes.getResult, async (c) => c.json(found(await store.result(c.req.valid('param').id), 'result'), 200))
  app.openapi(routes.getCertificate, async (c) => {
    const { runId } = c.req.valid('param')
    const file = found(await store.certificate(runId), 'certificate')
    c.header('content-type', 'application/json')
    c.header('content-disposition', `attachment; filename="touchstone-${runId}.json"`)
    return c.body(asTaken(file), 200) as never
  })
}

/** Nothing is read before its reader has room for it. */
function asTaken(file: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const pieces = file[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
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
  app.openapi(routes.listRounds, async (c) => c.json(await store.rounds(c.req.valid('query')), 200))
  app.openapi(routes.getStatistics, async (c) => c.json(await statistics(), 200))
  app.openapi(routes.getStatus, async (c) => c.json(await state(), 200))
}

/** Closed rounds of this validator, whether they are published yet or not: their signature is its word already. */
function addLedgerRoutes(app: OpenAPIHono, { store, self, clock }: ApiDeps): void {
  // Each makes the tree of a whole round: others are heard in between (attack 276).
  const inTurn = takeTurns(() => clock.sleep(0, new AbortController().signal))
  app.openapi(routes.getScoreProof, async (c) => {
    const { round } = c.req.valid('query')
    const kept = await store.keptRound(self, round ?? null)
    if (kept === null) throw notClosed(round)
    const proof = await inTurn(async () => proveScore(kept.record, c.req.valid('param').id))
    return c.json(found(proof, 'box in this round'), 200)
  })
  app.openapi(routes.getRoundRecord, async (c) => {
    const { record, state, said } = found(await store.keptRound(self, c.req.valid('param').round), 'closed round')
    return c.json({ record, state, said }, 200)
  })
}

/** Whoever asks for the proof of a score before its round is over is told when there is one. */
const notClosed = (round: number | undefined) =>
  problem(
    404,
    'NOT_FOUND',
    round === undefined ? 'no round is over yet' : `round ${round} is not over yet, or is not kept`,
    'Ask again when the round is over: /v1/rounds shows how far each is.',
  )

function withScoreNow<T extends BoxSummary>(box: T, now: Date, decay: ScoreConfig['decay']) {
  // How to log in to a box is nobody else's business.
  const { address: _, moves: __, ...shown } = box
  return { ...shown, scoreNow: scoreNow(box, now, decay) }
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
