import { xidText } from '../../core/inventory/xidText.ts'
import { withPrefix } from '../../core/units/format.ts'

type Sample = Readonly<Record<string, unknown>>

/** What a card said of itself during the run, in one line; null where it said nothing. Claims, all of it. */
export function summariseTelemetry(all: readonly unknown[], device: number, sustained: number | null): string | null {
  const samples = all.filter((sample): sample is Sample => (sample as Sample | null)?.device === device)
  const numbers = (name: string) => samples.map((sample) => sample[name]).filter((value) => typeof value === 'number')
  const range = (name: string, unit: string) => {
    const values = numbers(name)
    if (values.length === 0) return []
    const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.round)
    return [low === high ? `${low} ${unit}` : `${low} to ${high} ${unit}`]
  }
  const last = (name: string, text: (value: number) => string) => numbers(name).slice(-1).map(text)
  const facts = [
    ...range('smClockMhz', 'MHz'),
    ...range('temperatureC', 'C'),
    ...range('powerWatts', 'W'),
    ...last('powerLimitWatts', (watts) => `limit ${Math.round(watts)} W`),
    ...throttling(samples),
    ...last('eccUncorrected', (errors) => `${errors} ECC errors`),
    ...driverErrors(samples),
    ...last('pcieWidth', (width) => `PCIe x${width}`),
    ...perWatt(numbers('powerWatts'), sustained),
  ]
  return facts.length === 0 ? null : facts.join(', ')
}

/** Reasons for slower clocks, each with its share of the samples; idling is not one. */
function throttling(samples: readonly Sample[]): string[] {
  const reasons = samples.flatMap(({ throttle }) => (typeof throttle === 'string' ? throttle.split(' ') : []))
  const share = (reason: string) => reasons.filter((other) => other === reason).length / samples.length
  return [...new Set(reasons)]
    .filter((reason) => reason !== 'idle' && REASON.test(reason))
    .map((reason) => `throttled by ${reason} in ${Math.round(100 * share(reason))} % of the samples`)
}

/** As our own program names them: a word of the box, not a sentence. */
const REASON = /^[a-z][a-zA-Z]{0,23}$/

/** Each sample repeats what was seen before it, so the last one that has any has all. */
function driverErrors(samples: readonly Sample[]): string[] {
  const lists = samples.map(({ xid }) => xid).filter((xid) => typeof xid === 'string')
  const said = lists.findLast((xid) => XID_LIST.test(xid))
  return said === undefined ? [] : said.split(' ').map((xid) => xidText(Number(xid)))
}

const XID_LIST = /^\d{1,4}( \d{1,4}){0,7}$/

function perWatt(watts: readonly number[], sustained: number | null): string[] {
  const highest = Math.max(...watts, 0)
  if (sustained === null || highest === 0) return []
  return [`${withPrefix(sustained / highest)}op/s per watt at the highest power`]
}
