import type { MiddlewareHandler } from 'hono'
import { buckets } from '../../core/units/buckets.ts'
import type { ApiDeps } from './apiDeps.ts'
import { problem } from './problem.ts'

/** Why there is no place: all are taken, or the asker has as many as one may. */
type NoPlace = 'full' | 'enough'

/** How many are served at once, in all and for one asker. `enter` returns what gives the place back, or why there is none. */
export function places({ most, each }: { readonly most: number; readonly each: number }) {
  const held = new Map<string, number>()
  let all = 0
  return (client: string): (() => void) | NoPlace => {
    const own = held.get(client) ?? 0
    if (own >= each) return 'enough'
    if (all >= most) return 'full'
    all++
    held.set(client, own + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      all--
      const others = held.get(client)! - 1
      if (others > 0) held.set(client, others)
      else held.delete(client)
    }
  }
}

/** A quarter of a minute's worth may come at once. */
export function rateLimit({
  requestsPerMinute,
  clock,
  clientOf,
}: Pick<ApiDeps, 'requestsPerMinute' | 'clock' | 'clientOf'>): MiddlewareHandler {
  const take = buckets({ atOnce: Math.max(1, Math.ceil(requestsPerMinute / 4)), perSecond: requestsPerMinute / 60 })
  return async (c, next) => {
    const wait = Math.ceil(take(clientOf(c), clock.monotonicUs()))
    if (wait > 0) {
      // Refusing takes its time too: who asks again dials again, and connections are counted at the door (attack 438).
      const headers = { 'retry-after': String(wait), connection: 'close' }
      throw problem(429, 'TOO_MANY_REQUESTS', 'too many requests from this address', `Wait ${wait} s.`, headers)
    }
    await next()
  }
}

/** Answers that are being made, or made and not yet taken: each is in memory as a whole. */
const MOST_READS = 32
const MOST_EACH = 8
/** Answered from memory, or bounded by themselves. */
const LIGHT = new Set(['/v1/statistics', '/v1/status', '/v1/live', '/v1/chain', '/v1/events'])
const SOON = { 'retry-after': '1' }

/** Reads of the store, so many at once: whoever asks and does not read must not fill the memory or keep others waiting. */
export function limitReads({ clientOf, whenSent }: Pick<ApiDeps, 'clientOf' | 'whenSent'>): MiddlewareHandler {
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
