import { xidText } from '../../core/inventory/xidText.ts'
import { withPrefix } from '../../core/units/format.ts'

/** What a card said of itself during the run, in one line; null where it said nothing. Claims, all of it. */
export function summariseTelemetry(
  samples: readonly unknown[],
  device: number,
  sustained: number | null,
): string | null {
  const own = samples.filter((sample) => (sample as { device?: unknown } | null)?.device === device) as Record<
    string,
    unknown
  >[]
  const numbers = (name: string) => own.map((sample) => sample[name]).filter((value) => typeof value === 'number')
  const range = (name: string, unit: string) => {
    const values = numbers(name)
    if (values.length === 0) return []
    const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.round)
    return [low === high ? `${low} ${unit}` : `${low} to ${high} ${unit}`]
  }
  const facts = [
    ...range('smClockMhz', 'MHz'),
    ...range('temperatureC', 'C'),
    ...range('powerWatts', 'W'),
    ...numbers('powerLimitWatts')
      .slice(-1)
      .map((watts) => `limit ${Math.round(watts)} W`),
    ...throttling(own),
    ...numbers('eccUncorrected')
      .slice(-1)
      .map((errors) => `${errors} ECC errors`),
    ...driverErrors(own),
    ...numbers('pcieWidth')
      .slice(-1)
      .map((width) => `PCIe x${width}`),
    ...perWatt(numbers('powerWatts'), sustained),
  ]
  return facts.length === 0 ? null : facts.join(', ')
}

/** Reasons for slower clocks, each with its share of the samples; idling is not one. */
function throttling(samples: readonly Record<string, unknown>[]): string[] {
  const counts = new Map<string, number>()
  for (const { throttle } of samples)
    for (const reason of typeof throttle === 'string' ? throttle.split(' ') : [])
      if (reason !== '' && reason !== 'idle') counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].map(
    ([reason, count]) => `throttled by ${reason} in ${Math.round((100 * count) / samples.length)} % of the samples`,
  )
}

/** Each sample repeats what was seen before it, so the last one that has any has all. */
function driverErrors(samples: readonly Record<string, unknown>[]): string[] {
  const said = samples.map(({ xid }) => xid).findLast((xid) => typeof xid === 'string' && XID_LIST.test(xid))
  return said === undefined ? [] : (said as string).split(' ').map((xid) => xidText(Number(xid)))
}

const XID_LIST = /^\d{1,4}( \d{1,4}){0,7}$/

function perWatt(watts: readonly number[], sustained: number | null): string[] {
  const highest = Math.max(...watts, 0)
  return sustained === null || highest === 0
    ? []
    : [`${withPrefix(sustained / highest)}op/s per watt at the highest power`]
}
