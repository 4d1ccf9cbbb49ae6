import { OpenAPIHono } from '@hono/zod-openapi'
import { routes, TAGS } from './routes.ts'

const DESCRIPTION =
  'Everybody may read; keys named by the operator may write. A refusal is a Problem: code, message, next step.'

/** The API as OpenAPI 3.1 describes it; it follows from the routes alone. */
export function openApiDocument(program: string) {
  const app = new OpenAPIHono()
  app.openAPIRegistry.registerComponent('securitySchemes', 'signed', {
    type: 'apiKey',
    in: 'header',
    name: 'touchstone-signature',
    description:
      'Ed25519 over "touchstone/request", hex key of the validator asked, method, path with query, hex SHA-256 of the body, time and nonce, one a line; with touchstone-key, touchstone-time and touchstone-nonce.',
  })
  for (const route of Object.values(routes)) app.openAPIRegistry.registerPath(route)
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Touchstone validator', version: program.replace(/^\S+ /, ''), description: DESCRIPTION },
    servers: [{ url: '/', description: 'The validator that serves this document.' }],
    tags: [...TAGS],
  })
}
