import { printable } from '../../core/bytes/printable.ts'
import type { OwnInventory } from '../../core/inventory/inventory.ts'
import { TouchstoneError } from '../../ports/errors.ts'

interface Found extends OwnInventory {
  /** Of devices that could not be opened. */
  readonly faults: readonly unknown[]
}

/** What the box says of itself, as it is sent. */
export const inventoryOf = ({ program, devices, host, faults }: Found): OwnInventory => ({
  program,
  devices,
  host: faults.length === 0 ? host : { ...host, gpuFaults: printable(faults.map(nameOf).join('; '), 110) },
})

/** Which card could not be opened, and why. */
function nameOf(fault: unknown): string {
  if (!(fault instanceof TouchstoneError)) return 'a card: unknown fault'
  const { card, code } = fault.detail
  return `${typeof card === 'number' ? `card ${card}` : (card ?? 'a card')}: ${code}`
}
