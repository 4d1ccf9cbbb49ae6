import { OpenAPIHono } from '@hono/zod-openapi'
import { HTTPException } from 'hono/http-exception'
import type { Log } from '../../ports/log.ts'
import { problem } from './problem.ts'

/** An API of ours before its routes: a field that is wrong is named, and no answer is taken for another type. */
export function openApp(): OpenAPIHono {
  const app = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw badRequest(result.error.issues[0]?.path.map(String).join('.') ?? '')
    },
  })
  app.use(async (c, next) => {
    await next()
    c.res.headers.set('x-content-type-options', 'nosniff')
  })
  return app
}

/** What every API of ours answers to what it does not know or cannot do. `explain` may know more of a fault. */
export function answerFaults(
  app: OpenAPIHono,
  log: Log,
  explain: () => Promise<HTTPException> = async () => ourMistake(),
): void {
  app.notFound(() => problem(404, 'NOT_FOUND', 'there is no such page', 'See /openapi.json.').getResponse())
  app.onError(async (error, c) => {
    if (error instanceof HTTPException) return (error.res ? error : unreadable(error)).getResponse()
    const told = await explain()
    log.error('a request failed', { path: c.req.path, error: error.name, ours: told.status === 500 })
    return told.getResponse()
  })
}

export const ourMistake = () =>
  problem(500, 'INTERNAL', 'the program made a mistake', 'Look for "a request failed" in its log, and report it.')

const badRequest = (field: string) =>
  problem(400, 'BAD_REQUEST', `the field "${field}" is missing or wrong`, 'See /openapi.json for its form.')

/** What the library refuses before we see it. */
const unreadable = ({ status, message }: HTTPException) =>
  problem(status, 'BAD_REQUEST', message, 'See /openapi.json for its form.')

export const tooLarge = (most: number): Response =>
  problem(413, 'TOO_LARGE', `a body has at most ${most} bytes`, 'Send less.').getResponse()
