import { setTimeout as delay } from 'node:timers/promises'

/** What the promise gives, or what `late` gives or throws once the time is up. An abort rejects with its reason. */
export async function inTime<T, L>(
  promise: Promise<T>,
  limitMs: number,
  late: () => L,
  signal?: AbortSignal,
): Promise<T | L> {
  const over = new AbortController()
  const stop = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])
  try {
    return await Promise.race([promise, delay(limitMs, undefined, { signal: stop }).then(late)])
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    over.abort()
  }
}
