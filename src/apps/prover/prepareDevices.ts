import { type Challenge, devicesOf } from '../../core/proof/challenge.ts'
import type { ChainTask, Device } from '../../ports/device.ts'
import { blaming } from './deviceFault.ts'

/** Before "ready", and so before any clock: each device sets up the chains it will be asked for. */
export async function prepareDevices(
  { parts }: Challenge,
  devices: readonly Device[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    devices.map((device, index) => {
      const shapes = parts.flatMap((part): Omit<ChainTask, 'seed'>[] => {
        const { kind, precision, m, n, k, rounds } = part
        if ((kind !== 'rounds' && kind !== 'bind') || !devicesOf(part).includes(index)) return []
        return [{ kind, precision, m, n, k, rounds }]
      })
      return shapes.length > 0 ? blaming(device, device.prepare?.(shapes, signal)) : undefined
    }),
  )
}
