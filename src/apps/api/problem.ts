import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

export const problemSchema = z
  .object({ error: z.object({ code: z.string(), message: z.string(), nextStep: z.string() }) })
  .openapi('Problem')

/** An answer in JSON, as the document describes it. */
export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  content: { 'application/json': { schema } },
  description,
})

/** A route as the document describes it; what is not read is signed. */
export function route<R extends NonNullable<RouteConfig['request']>, A extends RouteConfig['responses']>(
  method: 'get' | 'put' | 'post' | 'delete',
  path: string,
  summary: string,
  request: R,
  responses: A,
) {
  const security = method === 'get' ? {} : { security: [{ signed: [] }] }
  return createRoute({ method, path, summary, ...security, request, responses })
}

/** A refusal with its reason and a next step. */
export function problem(
  status: ContentfulStatusCode,
  code: string,
  message: string,
  nextStep: string,
  headers: Readonly<Record<string, string>> = {},
): HTTPException {
  const res = Response.json({ error: { code, message, nextStep } }, { status, headers })
  return new HTTPException(status, { res })
}

export const notFound = (what: string) =>
  problem(404, 'NOT_FOUND', `there is no such ${what}`, 'List what there is under /v1/boxes or /v1/rounds.')

/** What the store has, or a 404. */
export function found<T>(value: T | null, what: string): T {
  if (value === null) throw notFound(what)
  return value
}
