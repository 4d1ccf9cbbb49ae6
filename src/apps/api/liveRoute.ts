import type { OpenAPIHono } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import type { LiveEvent } from '../../ports/liveRuns.ts'
import type { ApiDeps } from './apiDeps.ts'
import { problem } from './problem.ts'

const MOST_WATCHERS = 200
/** Events a slow watcher may be behind; what is more is dropped, and it is told. */
const MOST_WAITING = 500
const HEARTBEAT_MS = 15_000

/** Server-sent events: every run as it goes. A watcher that does not read costs a bounded queue and nothing else. */
export function addLiveRoute(app: OpenAPIHono, { live, clock }: ApiDeps): void {
  let watchers = 0
  app.get('/v1/live', (c) => {
    if (watchers >= MOST_WATCHERS)
      throw problem(503, 'TOO_MANY_WATCHERS', 'too many people watch already', 'Try again later.')
    watchers++
    return streamSSE(c, async (stream) => {
      const waiting: LiveEvent[] = []
      const ended = new AbortController()
      let dropped = 0
      let wake = () => {}
      const unsubscribe = live.subscribe((event) => {
        if (waiting.length < MOST_WAITING) waiting.push(event)
        else dropped++
        wake()
      })
      stream.onAbort(() => {
        ended.abort()
        wake()
      })
      try {
        await stream.writeSSE({ event: 'hello', data: '{}' })
        while (!ended.signal.aborted && !stream.closed) {
          const event = waiting.shift()
          if (event) await stream.writeSSE({ event: event.type, data: JSON.stringify(event) })
          else if (dropped > 0) {
            await stream.writeSSE({ event: 'dropped', data: String(dropped) })
            dropped = 0
          } else await nextOrHeartbeat()
        }
      } finally {
        ended.abort()
        unsubscribe()
        watchers--
      }
      async function nextOrHeartbeat() {
        const timer = new AbortController()
        const either = AbortSignal.any([timer.signal, ended.signal])
        const woken = new Promise<'woken'>((resolve) => {
          wake = () => resolve('woken')
        })
        const beat = clock.sleep(HEARTBEAT_MS, either).then(
          () => 'beat' as const,
          () => 'woken' as const,
        )
        if ((await Promise.race([woken, beat])) === 'beat') await stream.writeSSE({ event: 'beat', data: '{}' })
        timer.abort()
      }
    })
  })
}
