import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from '../../ports/metrics.ts'

export const PROCESS_METRICS = [
  { name: 'touchstone_event_loop_delay_seconds', help: 'Delay of the main thread, 99th percentile.', type: 'gauge' },
  { name: 'touchstone_event_loop_delay_max_seconds', help: 'Its longest in 15 s.', type: 'gauge' },
  { name: 'touchstone_resident_bytes', help: 'Memory of the process.', type: 'gauge' },
] as const

const RESOLUTION_MS = 10

let lastBytes = 0

/** It is read from a file: where no more can be opened, what it was (attack 459). */
export function residentBytes(): number {
  try {
    lastBytes = process.memoryUsage.rss()
  } catch {
    // The figure of before.
  }
  return lastBytes
}

/** Tells how busy this process is until the function it returns is called. */
export function watchProcess(metrics: Metrics): () => Promise<void> {
  // What it records includes its own interval.
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
  const timer = setInterval(() => {
    metrics.set('touchstone_event_loop_delay_seconds', seconds(delay.percentile(99)))
    metrics.set('touchstone_event_loop_delay_max_seconds', seconds(delay.max))
    metrics.set('touchstone_resident_bytes', residentBytes())
    delay.reset()
  }, 15_000)
  timer.unref()
  return async () => {
    clearInterval(timer)
    delay.disable()
  }
}
