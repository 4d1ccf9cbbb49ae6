import { printable, SHORT_TEXT } from '../../core/bytes/printable.ts'
import type { OwnInventory } from '../../core/inventory/inventory.ts'
import { TouchstoneError } from '../../ports/errors.ts'

interface Found extends OwnInventory {
  /** Of devices that could not be opened. */
  readonly faults: readonly unknown[]
  /** Why there is no card, where nobody asked for the processor. */
  readonly absent?: readonly unknown[]
}

/** What the box says of itself, as it is sent. */
export const inventoryOf = ({ program, devices, host, faults, absent = [] }: Found): OwnInventory => ({
  program,
  devices,
  host: {
    ...host,
    ...(faults.length === 0 ? {} : { gpuFaults: printable(faults.map(nameOf).join('; '), SHORT_TEXT) }),
    ...(absent.length === 0 ? {} : { gpuAbsent: printable(absent.map(whyAbsent).join('; '), SHORT_TEXT) }),
  },
})

/** The first clause of its words says it. */
const whyAbsent = (fault: unknown): string =>
  fault instanceof TouchstoneError ? fault.message.split(';')[0]! : 'for an unknown reason'

/** Which card could not be opened, and why. */
function nameOf(fault: unknown): string {
  if (!(fault instanceof TouchstoneError)) return 'a card: unknown fault'
  const { card, code } = fault.detail
  return `${typeof card === 'number' ? `card ${card}` : (card ?? 'a card')}: ${code}`
}
