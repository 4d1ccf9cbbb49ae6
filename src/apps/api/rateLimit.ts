import type { MiddlewareHandler } from 'hono'
import type { ApiDeps } from './apiDeps.ts'
import { problem } from './problem.ts'

/** Askers remembered at most; the one unseen longest goes first. */
const MOST_CLIENTS = 10_000

/** A bucket of requests per asker that refills steadily; a quarter of a minute's worth may come at once. */
export function rateLimit({ requestsPerMinute, clock, clientOf }: ApiDeps): MiddlewareHandler {
  const buckets = new Map<string, { readonly tokens: number; readonly atUs: number }>()
  const size = Math.max(1, Math.ceil(requestsPerMinute / 4))
  return async (c, next) => {
    const client = clientOf(c)
    const nowUs = clock.monotonicUs()
    const { tokens, atUs } = buckets.get(client) ?? { tokens: size, atUs: nowUs }
    const left = Math.min(size, tokens + ((nowUs - atUs) / 60e6) * requestsPerMinute)
    buckets.delete(client)
    buckets.set(client, { tokens: Math.max(0, left - 1), atUs: nowUs })
    if (buckets.size > MOST_CLIENTS) buckets.delete(buckets.keys().next().value!)
    if (left < 1) {
      const wait = Math.ceil(((1 - left) * 60) / requestsPerMinute)
      const headers = { 'retry-after': String(wait) }
      throw problem(429, 'TOO_MANY_REQUESTS', 'too many requests from this address', `Wait ${wait} s.`, headers)
    }
    await next()
  }
}
