import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { within } from '../shared/within.ts'
import type { ApiDeps } from './apiDeps.ts'
import { places } from './limits.ts'
import { problem } from './problem.ts'

const MOST_WATCHERS = 200
/** Places one address may hold: whoever takes them all must need more than one. */
const MOST_EACH = 50
/** Events a slow watcher may be behind; what is more is dropped, and it is told. */
const MOST_WAITING = 500
const HEARTBEAT_MS = 15_000

/** What a watcher is sent. */
interface Told {
  readonly event: string
  readonly data: string
}

/** Server-sent events of one source. A watcher that does not read costs a bounded queue and nothing else. */
export function eventStreams(
  subscribe: (listener: (told: Told) => void) => () => void,
  { clock, clientOf }: Pick<ApiDeps, 'clock' | 'clientOf'>,
): (c: Context) => Response {
  const enter = places({ most: MOST_WATCHERS, each: MOST_EACH })
  return (c) => {
    // Nobody would ever read the stream of a HEAD, nor end it.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
    const leave = enter(clientOf(c))
    if (typeof leave === 'string')
      throw problem(503, 'TOO_MANY_WATCHERS', 'too many clients are watching', 'Try again later.', {
        'retry-after': '60',
      })
    return streamSSE(c, async (stream) => {
      const waiting: Told[] = []
      let dropped = 0
      let wake = () => {}
      const nextEvent = () => new Promise<void>((resolve) => (wake = resolve))
      const unsubscribe = subscribe((told) => {
        if (waiting.length < MOST_WAITING) waiting.push(told)
        else dropped++
        wake()
      })
      stream.onAbort(() => wake())
      try {
        await stream.writeSSE({ event: 'hello', data: '{}' })
        while (!stream.aborted && !stream.closed) {
          const told = waiting.shift()
          if (told) await stream.writeSSE(told)
          else if (dropped > 0) {
            await stream.writeSSE({ event: 'dropped', data: String(dropped) })
            dropped = 0
          } else if ((await within(clock, HEARTBEAT_MS, nextEvent())) === null)
            await stream.writeSSE({ event: 'beat', data: '{}' })
        }
      } finally {
        unsubscribe()
        leave()
      }
    })
  }
}
