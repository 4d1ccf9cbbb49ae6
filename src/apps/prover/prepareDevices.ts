import type { Challenge } from '../../core/proof/challenge.ts'
import { devicesOf } from '../../core/proof/part.ts'
import { kindOf } from '../../core/proof/partKinds.ts'
import type { Device } from '../../ports/device.ts'
import { blaming } from './deviceFault.ts'

/** What a device may prepare by does not depend on the words that are drawn later. */
const UNKNOWN = new Uint8Array(32)

/** Before "ready", and so before any clock: each device sets up the chains it will be asked for. */
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
          const task = phase.task(part, { device: index, word: UNKNOWN, seed: UNKNOWN })
          return 'chain' in task ? [task.chain] : []
        }),
      )
      return shapes.length > 0 ? blaming(device, device.prepare?.(shapes, signal)) : undefined
    }),
  )
}
