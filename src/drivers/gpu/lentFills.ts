import type { Device } from '../../ports/device.ts'
import { fault } from './faults.ts'

/** What a link part needs of its peer: the fill, which only a device of the same kind can lend. */
export function lentFills<Fill>() {
  const fills = new WeakMap<Device, () => Fill | null>()
  return {
    lend: (device: Device, fill: () => Fill | null): Device => {
      fills.set(device, fill)
      return device
    },
    of: (peer: Device): Fill => {
      const fill = fills.get(peer)?.()
      if (!fill) throw fault('NO_PEER_FILL')
      return fill
    },
  }
}
