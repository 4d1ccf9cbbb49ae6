import type { Clock } from '../../ports/clock.ts'

/** What the work comes to, or null where it takes longer or the signal fires first; no timer is left behind. */
export async function within<T>(
  clock: Clock,
  milliseconds: number,
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T | null> {
  const over = new AbortController()
  const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const late = clock.sleep(milliseconds, either).then(
    () => null,
    () => null,
  )
  try {
    return await Promise.race([work, late])
  } finally {
    // Without a reason of ours an error is made, with its stack, that nobody reads.
    over.abort(null)
  }
}
