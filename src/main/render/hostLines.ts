import type { HostPart } from '../../core/inventory/hostReport.ts'
import { FASTEST_CARD_LANE } from '../../core/inventory/judgeWalk.ts'
import { formatBytes, formatBytesPerSecond } from '../../core/units/format.ts'
import { labelled } from './labelled.ts'

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
  const hashed = `${source}: ${rate} hashed in ${lanes === of ? lanesText(of) : `${lanes} of ${lanesText(of)}`}`
  if (source === 'proven')
    return `${hashed} while every device was at work; no card walks a lane faster than ${limit}, so none could have done it for the processor`
  const why = inWindow ? `no lane was faster than ${limit}` : 'not while every device was at work'
  return `${hashed}; ${why}: a card could have done it`
}

const lanesText = (count: number): string => `${count} ${count === 1 ? 'lane' : 'lanes'}`
