import type { OnRoot } from '../../ports/device.ts'
import { stopOnAbort } from '../system/stopOnAbort.ts'

/**
 * Does `work`, which hands out roots. An abort, or a listener that throws, stops it: nothing more is handed out, and what
 * stopped it comes out of the call when the work has ended.
 */
export async function handOut<T>(
  onRoot: OnRoot,
  signal: AbortSignal,
  stop: () => void,
  work: (onRoot: OnRoot) => Promise<T>,
): Promise<T> {
  const thrown = new AbortController()
  const ended = AbortSignal.any([signal, thrown.signal])
  const guarded: OnRoot = (root) => {
    if (ended.aborted) return
    try {
      onRoot(root)
    } catch (error) {
      thrown.abort(error)
    }
  }
  try {
    return await stopOnAbort(ended, stop, () => work(guarded))
  } finally {
    ended.throwIfAborted()
  }
}
