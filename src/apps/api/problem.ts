import { z } from '@hono/zod-openapi'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { TouchstoneError } from '../../ports/errors.ts'

export const problemSchema = z
  .object({ error: z.object({ code: z.string(), message: z.string(), nextStep: z.string() }) })
  .openapi('Problem')

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

/** A fault in its own words, for somebody who may write; anything else goes on as it is. */
export function toldTo(status: ContentfulStatusCode, error: unknown): unknown {
  if (!(error instanceof TouchstoneError)) return error
  return problem(status, error.detail.code, error.message, error.nextStep)
}

export const notFound = (what: string) =>
  problem(404, 'NOT_FOUND', `there is no such ${what}`, '/openapi.json says what can be listed.')

/** What the store has, or a 404. */
export function found<T>(value: T | null, what: string): T {
  if (value === null) throw notFound(what)
  return value
}
