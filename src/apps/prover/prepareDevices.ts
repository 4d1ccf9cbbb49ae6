import type { Challenge } from '../../core/proof/challenge.ts'
import { devicesOf } from '../../core/proof/part.ts'
import { kindOf } from '../../core/proof/partKinds.ts'
import type { Device } from '../../ports/device.ts'
import { blaming } from './deviceFault.ts'

/** Words are drawn later, and no shape depends on them. */
const UNKNOWN = new Uint8Array(32)

/** Before "ready", and so before any clock: each device sets up the series it will be asked for. */
export async function prepareDevices(
  { parts }: Challenge,
  devices: readonly Device[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    devices.map((device, index) => {
      const own = parts.filter((part) => devicesOf(part).includes(index))
      const shapes = own.flatMap((part) =>
        kindOf(part).phases.flatMap((phase) => {
          const task = phase.task(part, index, UNKNOWN, UNKNOWN)
          if (!('series' in task)) return []
          // A device knows a series that it has prepared by its shape alone.
          const { seed: _, ...shape } = task.series
          return [shape]
        }),
      )
      return shapes.length > 0 ? blaming(device, device.prepare?.(shapes, signal)) : undefined
    }),
  )
}
