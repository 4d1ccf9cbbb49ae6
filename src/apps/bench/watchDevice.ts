import type { Sample } from '../../core/bench/summariseSamples.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Device } from '../../ports/device.ts'

const EVERY_MS = 250

/** What a device says of itself, again and again until it is stopped. */
export function watchDevice(device: Device, clock: Clock) {
  const samples: Sample[] = []
  const stopping = new AbortController()
  const look = async () => {
    const sample = await device.telemetry?.().catch(() => null)
    if (sample) samples.push(sample)
  }
  const watching = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(EVERY_MS, stopping.signal).catch(() => {})
      await look()
    }
  }
  const watched = device.telemetry ? watching() : Promise.resolve()
  return {
    /** The last look is taken when it is stopped: an error of the last moment is seen too. */
    stop: async (): Promise<readonly Sample[]> => {
      stopping.abort()
      await watched
      return samples
    },
  }
}
