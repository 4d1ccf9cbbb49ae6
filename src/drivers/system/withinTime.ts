/**
 * Work that is told to end after so long. An `AbortSignal.timeout` that nobody but `AbortSignal.any` knows of is lost to the
 * collector of garbage, and its work waits for ever (attack 313).
 */
export async function withinTime<T>(
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), limitMs)
  try {
    const either = AbortSignal.any([signal, over.signal])
    const done = await work(either)
    // Where the end of a connection is the end of an answer, we may have ended it ourselves.
    either.throwIfAborted()
    return done
  } finally {
    clearTimeout(timer)
  }
}
