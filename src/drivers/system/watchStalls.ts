import type { HeardBy } from '../../core/schedule/runWindow.ts'
import type { Clock } from '../../ports/clock.ts'

const TICK_MS = 10
/** What is shorter makes no difference to a part of a second and more. */
const SHORTEST_US = 50_000
/** Longer than any run lasts, and bounded whatever happens here. */
const KEPT = 4096

/** Notes when this thread was kept from hearing anything, until it is closed. */
export function watchStalls({ monotonicUs }: Pick<Clock, 'monotonicUs'>): { heardBy: HeardBy; close(): Promise<void> } {
  const stalls: { readonly fromUs: number; readonly toUs: number; readonly heardUs: number }[] = []
  let [beforeUs, lastUs] = [monotonicUs(), monotonicUs()]
  let timer: NodeJS.Timeout
  let polled: NodeJS.Immediate
  const tick = () => {
    const nowUs = monotonicUs()
    if (nowUs - beforeUs > SHORTEST_US) stalls.push({ fromUs: beforeUs, toUs: lastUs, heardUs: nowUs })
    if (stalls.length > KEPT) stalls.shift()
    beforeUs = lastUs
    lastUs = nowUs
    polled = setImmediate(wait).unref()
  }
  // Timers come before sockets: what has come by a tick is read, and stamped, between it and the next one (attack 268). An
  // immediate comes after the sockets, so that no two ticks have none of them in between.
  const wait = () => {
    timer = setTimeout(tick, TICK_MS).unref()
  }
  wait()
  return {
    heardBy: (atUs) => stalls.find(({ fromUs, toUs }) => fromUs <= atUs && atUs < toUs)?.heardUs ?? atUs,
    close: async () => {
      clearTimeout(timer)
      clearImmediate(polled)
    },
  }
}
