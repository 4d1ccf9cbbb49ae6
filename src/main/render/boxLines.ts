import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import { HOST_FIELDS, type HostField } from '../../core/inventory/hostFields.ts'
import { formatBytes, formatBytesPerSecond, formatOps, formatSeconds } from '../../core/units/format.ts'
import { hostLines } from './hostLines.ts'
import { labelled } from './labelled.ts'
import type { Colours } from './terminal.ts'

const HOST_CLAIMS = '  claimed: figures of our program on the box, which its owner could have changed:'

/** How we got in, what the rest of the box showed, and in detail what our program says of it. */
export function boxLines(
  { access, inventory, host, ...report }: BoxReport,
  colours: Colours,
  isVerbose: boolean,
): string[] {
  const way = `${report.address}, account ${access.account}, host key ${access.hostKey} (${access.hostKeyTrust})`
  const remote = [
    ...labelled('box', way),
    ...labelled('lease', access.confinement === undefined ? null : `into a ${access.confinement}`),
    ...labelled('round trip', formatSeconds(report.roundTripSeconds)),
  ]
  const figures = Object.entries(isVerbose ? inventory.host : {}).flatMap(([name, value]) => {
    const field = HOST_FIELDS[name]
    return field?.figure ? [`  ${field.label}: ${format(field, value)}`] : []
  })
  return [
    ...block(access.hostKey === undefined ? [] : remote),
    ...block(host.flatMap(hostLines)),
    ...block(figures.length === 0 ? [] : [colours.dim(HOST_CLAIMS), ...figures]),
  ]
}

/** Set off by an empty line. */
const block = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', ...lines])

function format({ unit }: HostField, value: string | number | boolean): string {
  if (typeof value !== 'number') return String(value)
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'bytes/s') return formatBytesPerSecond(value)
  return unit === 'op/s' ? formatOps(value) : String(value)
}
