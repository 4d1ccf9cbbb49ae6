import type { LiveEvent, LiveRuns } from '../../ports/liveRuns.ts'

/** Hands events to whoever watches now; nobody watching costs nothing. */
export function createLiveRuns(): LiveRuns {
  const listeners = new Set<(event: LiveEvent) => void>()
  return {
    publish: (event) => {
      for (const listener of listeners) listener(event)
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
