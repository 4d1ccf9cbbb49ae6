import type { OpenAPIHono } from '@hono/zod-openapi'
import { bodyLimit } from 'hono/body-limit'
import { networkOf } from '../../../core/bytes/networkOf.ts'
import type { ChainNode } from '../../../ports/chainNode.ts'
import type { ApiDeps } from '../apiDeps.ts'
import { answerFaults, openApp, tooLarge } from '../apiFrame.ts'
import { limitReads, rateLimit } from '../limits.ts'
import { addAccountRoutes } from './addAccountRoutes.ts'
import { addBlockRoutes } from './addBlockRoutes.ts'
import { addDrillingRoutes } from './addDrillingRoutes.ts'
import { nodeOpenApiDocument } from './nodeOpenApiDocument.ts'

export interface NodeApiDeps
  extends Pick<ApiDeps, 'clock' | 'log' | 'requestsPerMinute' | 'program' | 'whenSent' | 'clientOf'> {
  readonly node: ChainNode
}

/** The longest transaction in hex, and its field. */
const MOST_BODY_BYTES = 2 * 131_072 + 1024

/** A node over HTTP: everybody may read, and hand in transactions, which pay for themselves. */
export function createNodeApi(given: NodeApiDeps): OpenAPIHono {
  const deps: NodeApiDeps = { ...given, clientOf: (c) => networkOf(given.clientOf(c)) }
  const app = openApp()
  app.use(rateLimit(deps))
  app.use('/v1/*', limitReads(deps))
  app.use('/v1/*', bodyLimit({ maxSize: MOST_BODY_BYTES, onError: () => tooLarge(MOST_BODY_BYTES) }))
  addBlockRoutes(app, deps)
  addAccountRoutes(app, deps)
  addDrillingRoutes(app, deps)
  app.get('/openapi.json', (c) => c.json(nodeOpenApiDocument(deps.program)))
  answerFaults(app, deps.log)
  return app
}
