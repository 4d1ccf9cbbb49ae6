import type { CardTools } from './cardTools.ts'
import type { Handle } from './loadLibcuda.ts'
import type { RootWindow } from './rootWindow.ts'
import { type Stop, stopped } from './stop.ts'

export interface Replay {
  readonly graph: Handle
  readonly window: RootWindow
  readonly times: number
  /** Launches queued ahead of the last root seen: enough to keep the card busy, few enough to stop soon. */
  readonly ahead: number
}

/** All new roots so far, 32 bytes each, in order. */
export type OnRoots = (roots: Uint8Array) => void

const POLL_MS = 0.05

/**
 * Replays a captured round (or pass) and hands its roots out as the card writes them; the host is out of the loop.
 * Returns all of them.
 */
export function replayGraph(
  tools: CardTools,
  { graph, window, times, ahead }: Replay,
  onRoots: OnRoots,
  stop: Stop,
): Uint8Array[] {
  const { api, stream, ordinal } = tools
  let launched = 0
  let seen = 0
  while (seen < times) {
    if (stop.requested) {
      api.synchronize(stream)
      throw stopped(ordinal)
    }
    while (launched < times && launched - seen < ahead) {
      api.launchGraph(graph, stream)
      launched++
    }
    const count = window.count
    if (count > seen) {
      onRoots(window.roots(seen, count))
      seen = count
    } else {
      api.idle(stream) // throws when the card has failed
      stop.pause(POLL_MS)
    }
  }
  api.synchronize(stream)
  const all = window.roots(0, times)
  return Array.from({ length: times }, (_, i) => all.subarray(32 * i, 32 * i + 32))
}
