import type { HeardBy } from '../../core/schedule/runWindow.ts'
import type { Clock } from '../../ports/clock.ts'

const TICK_MS = 10
/** What is shorter makes no difference to a part of a second and more. */
const SHORTEST_US = 50_000
/** Longer than any run lasts, and bounded whatever happens here. */
const KEPT = 4096

/** Notes when this thread was kept from hearing anything, until it is closed. */
export function watchStalls({ monotonicUs }: Pick<Clock, 'monotonicUs'>): { heardBy: HeardBy; close(): Promise<void> } {
  const stalls: { readonly fromUs: number; readonly toUs: number }[] = []
  let heardUs = monotonicUs()
  const timer = setInterval(() => {
    const nowUs = monotonicUs()
    if (nowUs - heardUs > SHORTEST_US) stalls.push({ fromUs: heardUs, toUs: nowUs })
    if (stalls.length > KEPT) stalls.shift()
    heardUs = nowUs
  }, TICK_MS)
  timer.unref()
  return {
    heardBy: (atUs) => stalls.find(({ fromUs, toUs }) => fromUs <= atUs && atUs < toUs)?.toUs ?? atUs,
    close: async () => clearInterval(timer),
  }
}
