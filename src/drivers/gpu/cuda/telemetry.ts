import type { Nvml, NvmlCall } from './nvml.ts'
import { watchXids } from './xidWatch.ts'

type TelemetrySample = Readonly<Record<string, string | number | boolean>>

export interface Telemetry {
  sample(): TelemetrySample
  /** Driver errors of the card since it was opened; waits at most so long for one more. */
  xids(waitMs: number): readonly number[]
  close(): void
}

const CLOCK = { graphics: 0, sm: 1, memory: 2 } as const
const COMPUTE_MODES = ['shared', 'exclusiveThread', 'prohibited', 'exclusive'] as const
/** nvmlClocksThrottleReason bits that people know by name. */
const REASONS: readonly (readonly [bit: number, name: string])[] = [
  [0x1, 'idle'],
  [0x2, 'applicationClocks'],
  [0x4, 'powerLimit'],
  [0x8, 'hardwareSlowdown'],
  [0x10, 'syncBoost'],
  [0x20, 'thermalSoftware'],
  [0x40, 'thermalHardware'],
  [0x80, 'powerBrake'],
  [0x100, 'displayClocks'],
]

export const throttleNames = (bits: number): string =>
  REASONS.filter(([bit]) => (bits & bit) !== 0)
    .map(([, name]) => name)
    .join(' ')

/** NVML's view of the card at this PCI address, or null where it does not know it. Claims: shown, never used to accept. */
export function openTelemetry(nvml: Nvml, pci: string): Telemetry | null {
  const handle = new BigUint64Array(1)
  if (nvml.get('nvmlDeviceGetHandleByPciBusId_v2')?.(pci, handle) !== 0) return null
  const card = handle[0]!
  const watch = watchXids(nvml, card)
  return {
    sample: () => {
      const xids = watch?.seen() ?? []
      return { ...sampleCard(nvml, card), ...(xids.length > 0 ? { xid: xids.join(' ') } : {}) }
    },
    xids: (waitMs) => watch?.seen(waitMs) ?? [],
    close: () => watch?.close(),
  }
}

function sampleCard(nvml: Nvml, card: bigint): TelemetrySample {
  const sample: Record<string, string | number | boolean> = {}
  const out = new Uint32Array(2)
  const read = (call: NvmlCall, ...args: number[]): number | null =>
    nvml.get(call)?.(card, ...args, out) === 0 ? out[0]! : null
  const note = (name: string, value: string | number | boolean | null) => {
    if (value !== null) sample[name] = value
  }
  const scaled = (value: number | null, by: number) => (value === null ? null : value / by)
  note('smClockMhz', read('nvmlDeviceGetClockInfo', CLOCK.sm))
  note('memoryClockMhz', read('nvmlDeviceGetClockInfo', CLOCK.memory))
  note('maxSmClockMhz', read('nvmlDeviceGetMaxClockInfo', CLOCK.sm))
  note('temperatureC', read('nvmlDeviceGetTemperature', 0))
  note('powerWatts', scaled(read('nvmlDeviceGetPowerUsage'), 1000))
  note('powerLimitWatts', scaled(read('nvmlDeviceGetEnforcedPowerLimit'), 1000))
  const reasons = read('nvmlDeviceGetCurrentClocksThrottleReasons')
  note('throttle', reasons === null ? null : throttleNames(reasons))
  note('busyPercent', read('nvmlDeviceGetUtilizationRates'))
  note('pcieWidth', read('nvmlDeviceGetCurrPcieLinkWidth'))
  note('pcieGeneration', read('nvmlDeviceGetCurrPcieLinkGeneration'))
  const mode = read('nvmlDeviceGetComputeMode')
  note('computeMode', mode === null ? null : (COMPUTE_MODES[mode] ?? 'unknown'))
  note('eccUncorrected', ecc(nvml, card))
  const pending = new Uint32Array(1)
  if (nvml.get('nvmlDeviceGetMigMode')?.(card, out, pending) === 0) sample.mig = out[0] === 1
  note('processes', processes(nvml, card))
  return sample
}

/** Uncorrected errors since the driver was loaded. */
function ecc(nvml: Nvml, card: bigint): number | null {
  const count = new BigUint64Array(1)
  const [uncorrected, sinceLoad] = [1, 0]
  return nvml.get('nvmlDeviceGetTotalEccErrors')?.(card, uncorrected, sinceLoad, count) === 0 ? Number(count[0]!) : null
}

/** How many processes compute on the card, ours included; a count of 0 asks NVML for the number alone. */
function processes(nvml: Nvml, card: bigint): number | null {
  const count = new Uint32Array(1)
  const status = nvml.get('nvmlDeviceGetComputeRunningProcesses_v3')?.(card, count, null)
  const insufficientSize = 7
  return status === 0 || status === insufficientSize ? count[0]! : null
}
