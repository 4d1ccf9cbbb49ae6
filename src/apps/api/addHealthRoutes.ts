import type { OpenAPIHono } from '@hono/zod-openapi'
import { cached } from '../shared/cached.ts'
import { within } from '../shared/within.ts'
import type { ApiDeps } from './apiDeps.ts'
import { forgetBoxes, tellBoxes } from './boxMetrics.ts'
import { routes } from './routes.ts'

const PATIENCE_MS = 2_000
/** Scrapers come every few seconds, several of them at once. */
const BOXES_MS = 10_000
/** Making the text of a large fleet takes milliseconds: those who ask at once get the same (attack 274). */
const TEXT_MS = 250

/** Whether the store answers within two seconds. */
export async function storeAnswers({ store, clock }: Pick<ApiDeps, 'store' | 'clock'>): Promise<boolean> {
  const pinged = store.ping().then(
    () => true,
    () => false,
  )
  return (await within(clock, PATIENCE_MS, pinged)) === true
}

/** For those who watch the validator itself. */
export function addHealthRoutes(app: OpenAPIHono, deps: ApiDeps): void {
  const { store, metrics, clock, program, decay } = deps
  app.openapi(routes.getHealth, async (c) => {
    const ok = await storeAnswers(deps)
    return c.json({ ok, program, store: ok ? 'answers' : 'does not answer' }, ok ? 200 : 503)
  })
  const told = cached(
    () => tellBoxes(metrics, store, { now: clock.wallTime(), decay }).then(() => true),
    BOXES_MS,
    clock,
  )
  const page = cached(
    async () => {
      // The rest of the figures are wanted most of all while the store is away.
      const known = await within(
        clock,
        PATIENCE_MS,
        told().catch(() => false),
      )
      if (known !== true) forgetBoxes(metrics)
      return new TextEncoder().encode(metrics.text())
    },
    TEXT_MS,
    clock,
  )
  app.openapi(routes.getMetrics, async (c) => {
    c.header('content-type', 'text/plain; version=0.0.4')
    return c.body(await page(), 200) as never
  })
}
