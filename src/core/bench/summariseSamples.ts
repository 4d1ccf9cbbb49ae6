import type { Watched } from './benchReport.ts'

/** What a device said of itself at one moment. */
export type Sample = Readonly<Record<string, unknown>>

/** Samples to spans and shares. Clocks, power and throttling count only while the card worked. */
export function summariseSamples(samples: readonly Sample[]): Watched {
  const busy = samples.filter(({ throttle }) => !words(throttle).includes('idle'))
  const span = (name: string) => {
    const values = numbers(busy.length > 0 ? busy : samples, name)
    return values.length === 0 ? null : { low: Math.min(...values), high: Math.max(...values) }
  }
  const most = (name: string) => {
    const values = numbers(samples, name)
    return values.length === 0 ? null : Math.max(...values)
  }
  return {
    samples: samples.length,
    smClockMhz: span('smClockMhz'),
    memoryClockMhz: span('memoryClockMhz'),
    temperatureC: span('temperatureC'),
    powerWatts: span('powerWatts'),
    powerLimitWatts: numbers(samples, 'powerLimitWatts').at(-1) ?? null,
    throttled: throttled(busy),
    // Each sample repeats what was seen before it.
    xids: words(samples.findLast(({ xid }) => typeof xid === 'string')?.xid).map(Number),
    eccUncorrected: most('eccUncorrected'),
    processes: most('processes'),
    // A card that has nothing to do puts its lanes to sleep.
    pcieWidth: most('pcieWidth'),
    pcieGeneration: most('pcieGeneration'),
  }
}

const numbers = (samples: readonly Sample[], name: string): number[] =>
  samples.map((sample) => sample[name]).filter((value) => typeof value === 'number')

const words = (text: unknown): string[] => (typeof text === 'string' ? text.split(' ').filter((one) => one !== '') : [])

function throttled(busy: readonly Sample[]): Watched['throttled'] {
  const reasons = busy.flatMap(({ throttle }) => words(throttle))
  return [...new Set(reasons)].map((reason) => ({
    reason,
    share: reasons.filter((other) => other === reason).length / busy.length,
  }))
}
