import { printable } from '../core/bytes/printable.ts'
import { TouchstoneError } from '../ports/errors.ts'

/** As the inventory says it: which cards could not be opened, and why. */
export function failedCards(faults: readonly unknown[]): { gpuFaults?: string } {
  if (faults.length === 0) return {}
  return { gpuFaults: printable(faults.map(nameOf).join('; '), 110) }
}

function nameOf(fault: unknown): string {
  if (!(fault instanceof TouchstoneError)) return 'a card: unknown fault'
  const { card, code } = fault.detail
  return `${typeof card === 'number' ? `card ${card}` : (card ?? 'a card')}: ${code}`
}
