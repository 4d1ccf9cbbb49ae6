import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { ApiDeps } from './apiDeps.ts'

const PING_MS = 2_000

const health = { 'application/json': { schema: z.object({ ok: z.boolean(), program: z.string(), store: z.string() }) } }
const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  summary: 'Whether the validator and its store answer',
  responses: {
    200: { content: health, description: 'They do.' },
    503: { content: health, description: 'The store does not answer.' },
  },
})
const metricsRoute = createRoute({
  method: 'get',
  path: '/metrics',
  summary: 'Counters and gauges for a scraper',
  responses: {
    200: { content: { 'text/plain': { schema: z.string() } }, description: 'Prometheus text, version 0.0.4.' },
  },
})

/** For those who watch the validator itself. */
export function addHealthRoutes(app: OpenAPIHono, { store, metrics, clock, program }: ApiDeps): void {
  app.openapi(healthRoute, async (c) => {
    const timer = new AbortController()
    const late = clock.sleep(PING_MS, timer.signal).then(
      () => false,
      () => false,
    )
    const ok = await Promise.race([
      store.ping().then(
        () => true,
        () => false,
      ),
      late,
    ])
    timer.abort()
    return c.json({ ok, program, store: ok ? 'answers' : 'does not answer' }, ok ? 200 : 503)
  })
  app.openapi(metricsRoute, (c) => c.text(metrics.text(), 200, { 'content-type': 'text/plain; version=0.0.4' }))
}
