import { setTimeout as delay } from 'node:timers/promises'
import type { MessageChannel } from '../../ports/leases.ts'
import { dialWs, MESSAGES, wsChannel } from '../system/wsChannel.ts'

/** What serves the other end; handed in, because drivers know no apps. */
export interface DialOutDeps {
  /** The signed greeting that says who we are. */
  readonly hello: (to: string) => Uint8Array
  readonly serve: (channel: MessageChannel, signal: AbortSignal) => Promise<void>
  readonly onUp: () => void
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 60_000

/** For a box behind NAT: dials the validator and keeps dialling; what is served is the same as when it dials us. */
export async function dialOut(
  { url, key }: { readonly url: string; readonly key: string },
  deps: DialOutDeps,
  signal: AbortSignal,
): Promise<void> {
  let wait = FIRST_WAIT_MS
  while (!signal.aborted) {
    try {
      const channel = wsChannel(await dialWs(url, MESSAGES, signal))
      await channel.send(deps.hello(key))
      wait = FIRST_WAIT_MS
      deps.onUp()
      await deps.serve(channel, signal)
    } catch {
      // The validator is away: it will be there again.
    }
    await delay(wait, undefined, { signal }).catch(() => {})
    wait = Math.min(2 * wait, LONGEST_WAIT_MS)
  }
}
