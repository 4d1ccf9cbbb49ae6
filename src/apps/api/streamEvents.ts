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
/** So long events are gathered: all boxes of a window tell of theirs at once, and each to every watcher (attack 271). */
const GATHER_MS = 100
/** To so many watchers one turn of the thread writes: others are heard in between. */
const WATCHERS_A_TURN = 16

/** What a watcher is sent. */
interface Told {
  readonly event: string
  readonly data: string
}

/** Events that were gathered, as all watchers are sent them. */
interface Batch {
  readonly bytes: Uint8Array
  readonly events: number
}

/** Server-sent events of one source. A watcher that does not read costs a bounded queue and nothing else. */
export function eventStreams(
  subscribe: (listener: (told: Told) => void) => () => void,
  { clock, clientOf }: Pick<ApiDeps, 'clock' | 'clientOf'>,
): (c: Context) => Response {
  const enter = places({ most: MOST_WATCHERS, each: MOST_EACH })
  const watch = gathered(subscribe, clock)
  return (c) => {
    // Nobody would ever read the stream of a HEAD, nor end it.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
    const leave = enter(clientOf(c))
    if (typeof leave === 'string')
      throw problem(503, 'TOO_MANY_WATCHERS', 'too many clients are watching', 'Try again later.', {
        'retry-after': '60',
      })
    return streamSSE(c, async (stream) => {
      const waiting: Batch[] = []
      let behind = 0
      let dropped = 0
      let wake = () => {}
      const nextEvent = () => new Promise<void>((resolve) => (wake = resolve))
      const unsubscribe = watch((batch) => {
        const fits = behind === 0 || behind + batch.events <= MOST_WAITING
        if (fits) waiting.push(batch)
        if (fits) behind += batch.events
        else dropped += batch.events
        wake()
      })
      stream.onAbort(() => wake())
      try {
        await stream.writeSSE({ event: 'hello', data: '{}' })
        while (!stream.aborted && !stream.closed) {
          const batch = waiting.shift()
          if (batch) {
            await stream.write(batch.bytes)
            behind -= batch.events
          } else if (dropped > 0) {
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

/** What is told within a moment, made once for all who watch. The source is asked while somebody does. */
function gathered(subscribe: Parameters<typeof eventStreams>[0], clock: ApiDeps['clock']) {
  const watchers = new Set<(batch: Batch) => void>()
  const encoder = new TextEncoder()
  const { signal } = new AbortController()
  let [text, events, isTelling] = ['', 0, false]
  let unsubscribe = () => {}
  const tell = async () => {
    isTelling = true
    while (events > 0) {
      await clock.sleep(GATHER_MS, signal)
      const batch = { bytes: encoder.encode(text), events }
      text = ''
      events = 0
      for (const [i, watcher] of [...watchers].entries()) {
        if (i % WATCHERS_A_TURN === 0) await clock.sleep(0, signal)
        watcher(batch)
      }
    }
    isTelling = false
  }
  const gather = ({ event, data }: Told) => {
    text += `event: ${event}\ndata: ${data}\n\n`
    events++
    if (!isTelling) void tell()
  }
  return (watcher: (batch: Batch) => void): (() => void) => {
    if (watchers.size === 0) unsubscribe = subscribe(gather)
    watchers.add(watcher)
    return () => {
      if (watchers.delete(watcher) && watchers.size === 0) unsubscribe()
    }
  }
}
