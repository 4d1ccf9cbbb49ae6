import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import { HOST_FIELDS, type HostField } from '../../core/inventory/hostFields.ts'
import { formatBytes, formatBytesPerSecond, formatOps, formatSeconds } from '../../core/units/format.ts'
import { hostLines } from './hostLines.ts'
import { labelled } from './labelled.ts'
import type { Terminal } from './terminal.ts'

/** How we got in, and what our program says of the box around the devices. */
export function showBox(
  { address, access, inventory, roundTripSeconds, host }: BoxReport,
  { line, colours }: Terminal,
): void {
  if (access.hostKey !== undefined) {
    line('')
    const how = `${address}, account ${access.account}, host key ${access.hostKey} (${access.hostKeyTrust})`
    for (const row of labelled('box', how)) line(row)
    if (access.confinement !== undefined) line(`  lease          into a ${access.confinement}`)
    line(`  round trip     ${formatSeconds(roundTripSeconds)}`)
  }
  if (host.length > 0) line('')
  for (const row of host.flatMap(hostLines)) line(row)
  const figures = Object.entries(inventory.host).filter(([name]) => HOST_FIELDS[name]?.figure)
  if (figures.length === 0) return
  line('')
  line(colours.dim('  claimed: figures of our program on the box, which its owner could have changed:'))
  for (const [name, value] of figures) line(`  ${HOST_FIELDS[name]!.label}: ${format(HOST_FIELDS[name]!, value)}`)
}

function format({ unit }: HostField, value: string | number | boolean): string {
  if (typeof value !== 'number') return String(value)
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'bytes/s') return formatBytesPerSecond(value)
  return unit === 'op/s' ? formatOps(value) : String(value)
}
