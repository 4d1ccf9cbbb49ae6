import type { Clock } from '../../ports/clock.ts'
import type { Stall } from './stampMessages.ts'

const TICK_MS = 10
/** What is shorter makes no difference to a part of a second and more. */
const SHORTEST_US = 50_000

/** Tells when this thread was kept from hearing anything, for as long as it runs. */
export function watchStalls({ monotonicUs }: Pick<Clock, 'monotonicUs'>, onStall: (stall: Stall) => void): () => void {
  let [beforeUs, lastUs] = [monotonicUs(), monotonicUs()]
  let timer: NodeJS.Timeout
  let polled: NodeJS.Immediate
  const tick = () => {
    const nowUs = monotonicUs()
    if (nowUs - beforeUs > SHORTEST_US) onStall({ fromUs: beforeUs, toUs: lastUs, heardUs: nowUs })
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
  return () => {
    clearTimeout(timer)
    clearImmediate(polled)
  }
}
