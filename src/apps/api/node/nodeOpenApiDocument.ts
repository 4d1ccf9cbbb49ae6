import { OpenAPIHono } from '@hono/zod-openapi'
import { NODE_TAGS, nodeRoutes } from './nodeRoutes.ts'

const DESCRIPTION =
  'Everybody may read. A refusal is a Problem: code, message, next step. Numbers that may pass 2^53 are decimal text.'

/** The API of a node as OpenAPI 3.1 describes it; it follows from the routes alone. */
export function nodeOpenApiDocument(program: string) {
  const app = new OpenAPIHono()
  for (const route of Object.values(nodeRoutes)) app.openAPIRegistry.registerPath(route)
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Touchstone node', version: program.replace(/^\S+ /, ''), description: DESCRIPTION },
    servers: [{ url: '/', description: 'The node that serves this document.' }],
    tags: [...NODE_TAGS],
  })
}
