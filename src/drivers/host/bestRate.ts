import { setImmediate as breathe } from 'node:timers/promises'

/** How often a second: the best of several slices of about 10 ms each, so that a pause of the machine does not count as its speed. */
export async function bestRate(act: (count: number) => void, budgetMs: number, signal: AbortSignal): Promise<number> {
  let [count, best] = [1, 0]
  const end = performance.now() + budgetMs
  while (performance.now() < end || best === 0) {
    signal.throwIfAborted()
    const began = performance.now()
    act(count)
    const tookMs = performance.now() - began
    if (tookMs < 5) count *= 2
    else best = Math.max(best, (1000 * count) / tookMs)
    await breathe()
  }
  return best
}
