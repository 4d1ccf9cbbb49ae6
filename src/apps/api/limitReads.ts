import type { MiddlewareHandler } from 'hono'
import type { ApiDeps } from './apiDeps.ts'
import { places } from './places.ts'
import { problem } from './problem.ts'

/** Answers that are being made, or made and not yet taken: each is in memory as a whole. */
const MOST_READS = 32
const MOST_EACH = 8
/** Answered from memory, or bounded by themselves. */
const LIGHT = new Set(['/v1/statistics', '/v1/status', '/v1/live'])
const SOON = { 'retry-after': '1' }

/** Reads of the store, so many at once: whoever asks and does not read must not fill the memory or keep others waiting. */
export function limitReads({ clientOf, whenSent }: ApiDeps): MiddlewareHandler {
  const enter = places({ most: MOST_READS, each: MOST_EACH })
  return async (c, next) => {
    // A HEAD makes the same page, and only then leaves it out.
    if (!['GET', 'HEAD'].includes(c.req.method) || LIGHT.has(c.req.path)) return await next()
    const leave = enter(clientOf(c))
    if (leave === 'enough')
      throw problem(
        429,
        'TOO_MANY_AT_ONCE',
        `one client may read ${MOST_EACH} pages at once`,
        'Read those first.',
        SOON,
      )
    if (leave === 'full') throw problem(503, 'TOO_BUSY', 'too many clients are reading', 'Wait 1 s.', SOON)
    whenSent(c, leave)
    await next()
  }
}
