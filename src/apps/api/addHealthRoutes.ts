import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { within } from '../shared/within.ts'
import type { ApiDeps } from './apiDeps.ts'
import { json, route } from './problem.ts'

const PING_MS = 2_000

const health = z.object({ ok: z.boolean(), program: z.string(), store: z.string() })
const answers = { 200: json(health, 'They do.'), 503: json(health, 'The store does not answer.') }
const text = {
  200: { content: { 'text/plain': { schema: z.string() } }, description: 'Prometheus text, version 0.0.4.' },
}

/** For those who watch the validator itself. */
export function addHealthRoutes(app: OpenAPIHono, { store, metrics, clock, program }: ApiDeps): void {
  app.openapi(route('get', '/health', 'Whether the validator and its store answer', {}, answers), async (c) => {
    const pinged = store.ping().then(
      () => true,
      () => false,
    )
    const ok = (await within(clock, PING_MS, pinged)) === true
    return c.json({ ok, program, store: ok ? 'answers' : 'does not answer' }, ok ? 200 : 503)
  })
  app.openapi(route('get', '/metrics', 'Counters and gauges for a scraper', {}, text), (c) =>
    c.text(metrics.text(), 200, { 'content-type': 'text/plain; version=0.0.4' }),
  )
}
