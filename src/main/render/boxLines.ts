import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import { boxWords } from '../../core/bytes/boxWords.ts'
import { HOST_FIELDS, type HostField } from '../../core/inventory/hostFields.ts'
import { FASTEST_CARD_LANE, type HostPart } from '../../core/inventory/hostReport.ts'
import { formatBytes, formatBytesPerSecond, formatOps, formatSeconds } from '../../core/units/format.ts'
import { labelled } from './labelled.ts'
import type { Colours } from './terminal.ts'

const HOST_CLAIMS = '  claimed: figures of our program on the box, which its owner could have changed:'

const OWN_CLOCK = 'this machine, by its own clock: whoever runs it could have changed both'

/** How we got in, what the rest of the box showed, and in detail what our program says of it. */
export function boxLines(
  { access, inventory, host, ...report }: BoxReport,
  colours: Colours,
  isVerbose: boolean,
): string[] {
  const way = `${report.address}, account ${access.account}, host key ${access.hostKey} (${access.hostKeyTrust})`
  const remote = [
    ...labelled('box', way),
    ...labelled(
      'lease',
      access.confinement === undefined ? null : `confined, as the provider says, to: ${access.confinement}`,
    ),
    ...labelled('round trip', formatSeconds(report.roundTripSeconds)),
  ]
  const figures = Object.entries(isVerbose ? inventory.host : {}).flatMap(([name, value]) => {
    const field = HOST_FIELDS[name]
    return field?.figure ? [`  ${field.label}: ${format(field, value)}`] : []
  })
  return [
    ...block(access.hostKey === undefined ? labelled('box', OWN_CLOCK) : remote),
    // Of a run that is rejected nothing is proven (attack 377).
    ...block(report.judgement.reason ? [] : host.flatMap(hostLines)),
    ...block(figures.length === 0 ? [] : [colours.dim(HOST_CLAIMS), ...figures]),
  ]
}

/** Set off by an empty line. */
const block = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', ...lines])

function format({ unit }: HostField, value: string | number | boolean): string {
  if (typeof value !== 'number') return boxWords(String(value))
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'bytes/s') return formatBytesPerSecond(value)
  return unit === 'op/s' ? formatOps(value) : String(value)
}

const LABELS = { cpu: 'processor', memory: 'host memory', disk: 'disk' } as const

/** What a host part showed, what that is worth, and what could have stood in. */
export function hostLines(part: HostPart): string[] {
  return labelled(LABELS[part.part], part.problem === null ? shown(part) : missing(part.problem))
}

const missing = ({ code, text, nextStep }: NonNullable<HostPart['problem']>): string =>
  `not shown: ${text} [${code}]. ${nextStep}`

function shown(part: HostPart): string {
  const rate = formatBytesPerSecond(part.bytesPerSec)
  if (part.part === 'cpu') return cpuText(part, rate)
  const read = `measured: ${rate} read back at random from ${formatBytes(part.storedBytes)}, hashed in ${lanesText(part.lanes)}`
  if (part.part === 'memory') return `${read}; a card could have stood in for it`
  return `${read}, ${part.pastCache ? 'past the cache' : 'through the cache'} as the box says; memory could have stood in for it`
}

function cpuText({ source, lanes, of, inWindow }: HostPart, rate: string): string {
  const limit = formatBytesPerSecond(FASTEST_CARD_LANE)
  const walked = `${source}: ${rate} looked up in ${lanes === of ? lanesText(of) : `${lanes} of ${lanesText(of)}`}`
  if (source === 'proven')
    return `${walked} while every device was at work; no card walks a lane faster than ${limit}, so none could have done it for the processor`
  const why = inWindow ? `no lane was faster than ${limit}` : 'too late, or not while every device was at work'
  return `${walked}; ${why}: a card could have done it`
}

const lanesText = (count: number): string => `${count} ${count === 1 ? 'lane' : 'lanes'}`
