import type { OpenAPIHono } from '@hono/zod-openapi'
import { bodyLimit } from 'hono/body-limit'
import { networkOf } from '../../core/bytes/networkOf.ts'
import { addHealthRoutes, storeAnswers } from './addHealthRoutes.ts'
import { addLiveRoute } from './addLiveRoute.ts'
import { addPageRoutes } from './addPageRoutes.ts'
import { addReadRoutes } from './addReadRoutes.ts'
import { addWriteRoutes } from './addWriteRoutes.ts'
import type { ApiDeps } from './apiDeps.ts'
import { answerFaults, openApp, ourMistake, tooLarge } from './apiFrame.ts'
import { limitReads, rateLimit } from './limits.ts'
import { openApiDocument } from './openApiDocument.ts'
import { problem } from './problem.ts'
import { requireSignature } from './requireSignature.ts'

const MOST_BODY_BYTES = 64 * 1024
/** For pages outside /v1, in buckets of their own: a scraper asks a few times a minute, and no reader of /v1 can starve it. */
const PLAIN_PER_MINUTE = 600

/** The validator over HTTP: everybody may read, keys named by the operator may write. */
export function createApi(given: ApiDeps): OpenAPIHono {
  const deps: ApiDeps = { ...given, clientOf: (c) => networkOf(given.clientOf(c)) }
  const app = openApp()
  const plain = rateLimit({ ...deps, requestsPerMinute: PLAIN_PER_MINUTE })
  for (const path of ['/health', '/metrics', '/openapi.json']) app.use(path, plain)
  addHealthRoutes(app, deps)
  addPageRoutes(app, deps, plain)
  app.use('/v1/*', rateLimit(deps))
  app.use('/v1/*', limitReads(deps))
  app.use('/v1/*', bodyLimit({ maxSize: MOST_BODY_BYTES, onError: () => tooLarge(MOST_BODY_BYTES) }))
  app.use('/v1/*', requireSignature(deps))
  addReadRoutes(app, deps)
  addWriteRoutes(app, deps)
  addLiveRoute(app, deps)
  addDocument(app, deps)
  answerFaults(app, deps.log, async () => ((await storeAnswers(deps)) ? ourMistake() : storeAway()))
  return app
}

function addDocument(app: OpenAPIHono, { program }: ApiDeps): void {
  let document: ReturnType<typeof openApiDocument> | undefined
  app.get('/openapi.json', (c) => {
    // Making it takes longer than any other answer, and it never changes.
    document ??= openApiDocument(program)
    return c.json(document)
  })
}

const storeAway = () =>
  problem(503, 'STORE_UNAVAILABLE', 'the store did not answer', 'Try again in a moment.', { 'retry-after': '5' })
