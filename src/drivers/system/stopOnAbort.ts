/** Does `work`; an abort before it throws, one while it runs calls `stop`. */
export async function stopOnAbort<T>(
  signal: AbortSignal,
  stop: (reason: unknown) => void,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const onAbort = () => stop(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await work()
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
