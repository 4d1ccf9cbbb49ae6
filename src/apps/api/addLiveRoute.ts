import type { OpenAPIHono } from '@hono/zod-openapi'
import type { ApiDeps } from './apiDeps.ts'
import { routes } from './routes.ts'
import { eventStreams } from './streamEvents.ts'

/** Every run as it goes. */
export function addLiveRoute(app: OpenAPIHono, { live, ...deps }: ApiDeps): void {
  const stream = eventStreams(
    (listener) => live.subscribe((event) => listener({ event: event.type, data: JSON.stringify(event) })),
    deps,
  )
  app.openapi(routes.watchRuns, (c) => stream(c) as never)
}
