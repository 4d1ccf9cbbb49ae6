import { formatBytesPerSecond } from '../../core/units/format.ts'
import { labelled } from './labelled.ts'

type Details = Readonly<Record<string, string | number | boolean>>

/** What our program measured between host and card, which the box's owner could have changed; nothing for a CPU. */
export function transferLines({ hostToCardBytesPerSec: up, cardToHostBytesPerSec: down, transferRates }: Details) {
  if (typeof up === 'number' && typeof down === 'number')
    return labelled(
      'host memory',
      `${formatBytesPerSecond(up)} to the card, ${formatBytesPerSecond(down)} back (measured, not proven)`,
    )
  return typeof transferRates === 'string' ? labelled('host memory', `rates ${transferRates}`) : []
}
