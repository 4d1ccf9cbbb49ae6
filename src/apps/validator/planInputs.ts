import type { Inventory } from '../../core/inventory/inventory.ts'
import type { PlanInputs } from '../../core/proof/planPart.ts'
import { fault } from '../shared/faults.ts'
import type { Greeting } from './greetProver.ts'
import type { VerifyOptions } from './verifyBox.ts'

/** §4.0: one k for all devices of a run, so it asks the first devices, as far as they are of one class (attack 41). */
function askedDevices({ devices }: Inventory, most: number): Inventory['devices'] {
  const [first] = devices
  if (!first) throw fault('NO_DEVICES')
  const other = devices.findIndex((device) => device.class !== first.class)
  return devices.slice(0, Math.min(most, other < 0 ? devices.length : other))
}

/** What the devices are asked: sizes and precisions follow from what they claim, never what is accepted. */
export function planInputs(options: VerifyOptions, { inventory, roundTripSeconds }: Greeting): PlanInputs {
  const devices = askedDevices(inventory, options.maxDevices)
  const { preset, memory, bind, openings, partSeconds, sustainedSeconds, maxSize } = options
  // What a card cannot do is unsupported, not failed: only what every device claims is asked.
  const precisions = options.precisions.filter((precision) =>
    devices.every((device) => device.precisions.includes(precision)),
  )
  // Without this a box that claims no precision would be asked nothing, and have nothing to fail (attack 42).
  if (precisions.length === 0 && !memory && !bind) throw fault('NOTHING_TO_ASK')
  return {
    preset,
    devices,
    precisions,
    memory,
    bind,
    openings,
    partSeconds,
    sustainedSeconds,
    maxSize,
    roundTripSeconds,
  }
}
