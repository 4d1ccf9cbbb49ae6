import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../ports/clock.ts'

/** The machine's clocks. `monotonicUs` never jumps when the wall clock does (attack 17). */
export const systemClock: Clock = {
  monotonicUs: () => Number(process.hrtime.bigint() / 1000n),
  wallTime: () => new Date(),
  sleep: (milliseconds, signal) => {
    // All boxes of a fleet may wait under one signal: that is no leak, and no warning belongs between lines of a log.
    if (signal) setMaxListeners(0, signal)
    return delay(Math.min(milliseconds, 2 ** 31 - 1), undefined, { signal })
  },
}
