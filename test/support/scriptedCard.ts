import type { Precision } from '../../src/core/params/precision.ts'
import type { Device, TransferRates } from '../../src/ports/device.ts'
import type { VirtualClock } from './virtualClock.ts'

interface Script {
  readonly clock: VirtualClock
  readonly name: string
  readonly memoryBytes: number
  /** Operations a second of the bare product, and which share of them the proven one has. */
  readonly rates: Readonly<Partial<Record<Precision, number>>>
  readonly proven?: number
  readonly bandwidth: number
  /** Bytes a second from another card; an error where it cannot. */
  readonly link?: number | Error
  readonly transfers?: TransferRates
  readonly details?: Readonly<Record<string, string | number | boolean>>
  readonly sample?: Readonly<Record<string, string | number | boolean>>
  /** Thrown by the first series. */
  readonly fault?: Error
}

/** A card that computes nothing and takes the time its script says, on a clock of the test. */
export function scriptedCard(script: Script): Device {
  const { clock, rates, proven = 0.9, bandwidth, link = 1e11 } = script
  let filled = 0
  const take = (seconds: number, signal: AbortSignal) => clock.sleep(1000 * seconds, signal)
  return {
    facts: {
      class: 'gpu',
      backEnd: 'cuda',
      name: script.name,
      memoryBytes: script.memoryBytes,
      freeBytes: script.memoryBytes,
      precisions: Object.keys(rates) as Precision[],
      details: { uuid: `GPU-${script.name}`, driver: '580.1', productLibrary: 'cuBLASLt 130100', ...script.details },
    },
    runSeries: async ({ precision, m, n, k, rounds }, _, signal) => {
      if (script.fault) throw script.fault
      await take((rounds * 2 * m * n * k) / (rates[precision]! * proven), signal)
    },
    runBare: async ({ precision, m, n, k, rounds }, signal) => {
      const seconds = (rounds * 2 * m * n * k) / rates[precision]!
      await take(seconds, signal)
      return 1e6 * seconds
    },
    openSeries: async () => new Uint8Array(0),
    fill: async ({ m, n, kept }) => {
      filled = 2 * m * n * kept
    },
    runPasses: async ({ passes, peer }, _, signal) => {
      if (peer && link instanceof Error) throw link
      await take((passes * filled) / (peer ? Number(link) : bandwidth / 2), signal)
    },
    openPasses: async () => new Uint8Array(0),
    telemetry: async () => script.sample ?? {},
    ...(script.transfers ? { transfers: async () => script.transfers! } : {}),
    release: async () => {
      filled = 0
    },
    close: async () => {},
  }
}
